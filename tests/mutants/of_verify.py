# ruff: noqa: E501  # pieces of source files are as long as they are
"""Mutants of the checker: every one lets through, or invents, a false claim."""

from __future__ import annotations

from .mutant import Mutant

__all__ = ["MUTANTS"]

FACTS = "verify/test_verify_facts.py"
EDITS = "verify/test_verify_mutations.py"
PROOF = "verify/test_verify_proof.py"
SOLVER = "verify/test_verify_against_solver.py"
LOCAL = "verify/test_local.py"
PARTS = "verify/test_verify_fractions.py"
EXPONENT = "verify/test_calibrated.py"
DEEP = "bayes/test_deep_trees.py"
EVERY = "verify/test_every.py"
INPUTS = "verify/test_verify_inputs.py"
FIELDS = "verify/test_every_field.py"
SINGLE = "verify/test_single_claims.py"
SETTING = "verify/test_every_setting.py"
GROWN = "verify/test_grown_claims.py"
CUT = f"{SETTING}::test_a_cut_between_the_same_values_is_told"
HONEST = f"{SETTING}::test_an_honest_file_is_found_true"
CHANGED = f"{SETTING}::test_no_changed_field_moves_a_prediction_unseen"
IN_FORCE = "verify/test_verify_mutations.py::test_hyper_parameters_in_force_are_those_asked_for"
TOO_LARGE = "verify/test_verify_mutations.py::test_a_space_too_large_is_said_not_to_be_checked"


def of(file: str, name: str, old: str, new: str, tests: str, survives: str = "") -> Mutant:
    return Mutant(name, f"src/everytree/verify/{file}.py", old, new, tests, survives)


MUTANTS = [
    of("check", "the number of examples is not compared",
       'facts.append(_equal("examples", model.claims["n_examples"], sum(examples.class_totals)))', "pass", FACTS),
    of("check", "any fingerprint is taken", "model.claims[\"fingerprint\"], examples.fingerprint(), note",
       "model.claims[\"fingerprint\"], model.claims[\"fingerprint\"], note", f"{FACTS} {EDITS}"),
    of("check", "rows go to the other side", "node = model.nodes[node].children[bits >> test & 1]",
       "node = model.nodes[node].children[1 - (bits >> test & 1)]", FACTS),
    of("check", "counts of splits are not compared", "(k for k in splits if model.nodes[k].counts != counts[k])",
       "(k for k in splits if False)", f"{FACTS} {EDITS}"),
    of("check", "probabilities of nodes are not compared", "if off is None and not close:", "if False:", f"{FACTS} {EDITS}"),
    of("check", "probabilities are those of an empty prior", "total = sum(counts[k]) + sum(added)",
       "total = sum(counts[k])", FACTS),
    of("check", "what leaves say is not compared", "if _same(told, found):\n            right += leaf",
       "if True:\n            right += leaf", FACTS),
    of("check", "answers that are not checked do not count", 'UNCHECKED, note, predicts=True)]\n    claimed = {leaf.node',
       'UNCHECKED, note)]\n    claimed = {leaf.node', FIELDS),
    of("check", "the error counts the largest class only",
       "sum(sum(counts[k]) - counts[k][model.said(k)] for k in leaves)",
       "sum(sum(counts[k]) - max(counts[k]) for k in leaves)", f"{FACTS} {SOLVER} {EDITS}"),
    of("check", "max_leaves may be exceeded by one", "len(leaves) <= query.max_leaves", "len(leaves) <= query.max_leaves + 1",
       FACTS),
    of("check", "min_accuracy is not held", "right >= wanted * n", "True", FACTS),
    of("check", "a forbidden test may be used", '"not used", not names)', '"not used", True)', FACTS),
    of("check", "a required test may be absent", '"not used", bool(used & group))', '"not used", True)', FACTS),
    of("average", "the table is not compared with the rows", "FALSE if wrong or note else TRUE", "TRUE", EDITS),
    of("average", "the table's own fingerprint is not compared", "TRUE if own == claimed else FALSE", "TRUE", "verify/test_verify_mutations.py::test_a_changed_table_is_refused_and_found"),
    of("average", "predictions may be off", "if off > CLOSE:", "if off > 2:", EDITS),
    of("average", "evidence is not compared",
       "return [Fact(\"log_evidence\", claimed, values[0], TRUE if fine else FALSE)]",
       "return [Fact(\"log_evidence\", claimed, values[0], TRUE)]", f"{FACTS} {EDITS}"),
    of("average", "weights of a mixture are not compared",
       'len(parts), len(parts), TRUE if off <= CLOSE else FALSE, note)', "len(parts), len(parts), TRUE, note)", SINGLE),
    of("average", "any depth may be claimed", "return [\n        Fact(\"depth\", depth, asked, FALSE,",
       "return [\n        Fact(\"depth\", depth, asked, NOTED,", SINGLE),
    of("average", "a space too large counts as checked",
       "return [*facts, Fact(\"predictions\", None, None, UNCHECKED, note, predicts=True)]\n    off = max(",
       "return [*facts, Fact(\"predictions\", None, None, UNCHECKED, note)]\n    off = max(", TOO_LARGE),
    of("probable", "the size prior forgets its base", "return math.log(prior.alpha) - prior.beta * math.log(1 + depth)",
       "return math.log(prior.alpha) - prior.beta * math.log(2 + depth)", EDITS),
    of("probable", "closed leaves weigh as open ones", "return 0.0 if closed else math.log1p",
       "return 0.0 if False else math.log1p", EDITS),
    of("probable", "the marginal is without its total", "math.fsum(terms) + math.lgamma(total) - math.lgamma(total + sum(counts))",
       "math.fsum(terms) - math.lgamma(total + sum(counts))", EDITS),
    of("probable", "the largest tree is the sum", "best = max(best, here + shares[test] + best0 + best1)",
       "best = max(best, here + shares[test] + sum0 + sum1)", f"{SINGLE} {EDITS}"),
    of("probable", "the power is forgotten", "return self.power * (math.fsum(terms)", "return (math.fsum(terms)", EXPONENT),
    of("probable", "predictions take the other side", "(one, ones) if row >> test & 1 else (zero, zeros)",
       "(zero, zeros) if row >> test & 1 else (one, ones)", EXPONENT + " " + EDITS,
       survives="the predictions of a file that agrees with the data are computed twice by this code; only a file that "
       "does not agree is compared with others, and both sides move"),
    of("posterior", "any log joint is taken", "fine = is_number(claimed) and math.isclose(claimed, found", "fine = is_number(claimed) or math.isclose(claimed, found",
       f"{FACTS} {EDITS}"),
    of("posterior", "a tree that is not the best passes", "best = joint >= found.log_best - slack", "best = True", f"{FACTS} {SOLVER} {EDITS}"),
    of("posterior", "an upper bound below the best passes", "bound >= found.log_best - slack", "True", f"{FACTS} {EDITS}"),
    of("prove", "min_leaf holds on one side only", "if least <= sum(ones) <= n - least:", "if least <= sum(ones):", f"{SOLVER} {PROOF}"),
    of("prove", "the search stops at the first split", "if best is None or both < best:\n                best, choice = both, test\n                if best <= floor:\n                    break",
       "if best is None or both < best:\n                best, choice = both, test\n                if best is not None:\n                    break", f"{SOLVER} {PROOF}"),
    of("prove", "a split may not be better than the leaf", "elif best is None or best > self.least(counts):",
       "elif best is None:", f"{SOLVER} {PROOF}"),
    of("prove", "the bound of the second side is doubled", "best <= _sum(first, self.least(ones))", "best <= _sum(first, first)",
       f"{SOLVER} {PROOF}"),
    of("prove", "leaf rules do not forbid leaves", "value = self._vector(self.query.cost, counts) if allowed else None",
       "value = self._vector(self.query.cost, counts)", f"{SOLVER} {PROOF}"),
    of("prove", "the penalty is charged once", "price = query.penalty * leaves if name == query.first_cost else 0",
       "price = query.penalty if name == query.first_cost else 0", f"{SOLVER} {PROOF} {FACTS}"),
    of("prove", "Pareto cells forget depth", "1 + max(v0[-1], v1[-1]),", "1 + min(v0[-1], v1[-1]),", f"{SOLVER} {PROOF}"),
    of("prove", "a dominated cell hides another", "not (m & ~lacking) and all(a <= b", "all(a <= b", f"{SOLVER} {PROOF}"),
    of("optimum", "a better tree is not told", "if not _better(found.rank, rank):", "if True:", f"{FACTS} {PROOF} {SOLVER}"),
    of("optimum", "any objective is taken", 'fine = _close(claims["objective"], objective)', "fine = True", f"{FACTS} {EDITS}"),
    of("optimum", "a lower bound above the optimum passes", "fine = is_number(bound) and _at_most(bound, least)",
       "fine = is_number(bound)", f"{FACTS} {EDITS} {PROOF}"),
    of("claims", "any gap is taken", 'facts.append(Fact("gap", gap, found, TRUE if fine else FALSE))',
       'facts.append(Fact("gap", gap, found, TRUE))', f"{FACTS} {EDITS}"),
    of("claims", "stop_reason does not follow optimal", "fine = optimal == (reason == PROVED)", "fine = True",
       f"{FACTS} {EDITS} {FIELDS}"),
    of("claims", "the prior in force is not compared", "TRUE if found == asked else FALSE))", "TRUE))", f"{EDITS} {FIELDS}"),
    of("claims", "the Dirichlet parameters in force are not compared", 'Fact("dirichlet in force", *shown, TRUE if same else FALSE))',
       'Fact("dirichlet in force", *shown, TRUE))', IN_FORCE),
    of("claims", "the largest Dirichlet parameter decides", "if not all(math.isclose(x, y, rel_tol=1e-12)", "if not any(math.isclose(x, y, rel_tol=1e-12)",
       f"{EDITS} {FIELDS} {FACTS}"),
    of("draws", "log weights of draws are not compared",
       "if not (is_number(stored) and math.isclose(stored, found, rel_tol=CLOSE, abs_tol=CLOSE)):", "if False:", SINGLE),
    of("draws", "drawn trees may be outside the space", "if fewest < space.query.min_leaf or (limit is not None and depth >= limit):",
       "if False:", SINGLE),
    of("draws", "the best tree may be worse than a draw", 'TRUE if fine else FALSE, "" if fine else "a draw is better")',
       'TRUE, "" if fine else "a draw is better")', SINGLE),
    of("draws", "how often trees were drawn is not sealed", 'same = TRUE if found == draws["fingerprint"] else FALSE',
       "same = TRUE", SINGLE),
    of("rules", "rules may be further off than they say", "TRUE if off <= bound + ROUNDING else FALSE", "TRUE", SINGLE),
    of("rules", "any floor is taken", "for x in least], TRUE if fine else FALSE))\n", "for x in least], TRUE))\n", SINGLE),
    of("whole", "the digest is not compared", "same = found == content[\"digest\"]", "same = True", SINGLE),
    of("multiway", "counts of nodes are not compared", "if not all(map(_same, stored[k], found[k]))", "if False", EDITS),
    of("multiway", "cuts are not compared", "return None if fine else Fact(f\"cut of node {node}\"", "return None if True else Fact(f\"cut of node {node}\"",
       EDITS),
    of("multiway", "missing values are not shared out", "below[k] += [(row, s * share) for row, share in rest]", "pass", EDITS),
    of("local", "a bin ends one value late", "if held * k < left:\n            j += 1", "if held * k <= left:\n            j += 1", LOCAL,
       survives="a bin that is full to the example is then closed one value later, where the rule of the closer break takes it back"),
    of("prove", "the last level has cuts of its own", "return above if self.offers is not None and left == 1 else None", "return None", LOCAL),
    of("cuts", "cuts of nodes are not compared", "if (node.upper, node.asks) != (upper, words):", "if False:", f"{LOCAL} {FIELDS}"),
    of("cuts", "a node may ask what its rows do not offer", "if node.test not in offered or node.test not in rows:",
       "if False:", SINGLE),
    of("fills", "any fill is taken", "return math.isclose(mean, fill, rel_tol=1e-9, abs_tol=1e-12)", "return True", SINGLE),
    of("left_out", "the exponent is not compared", "TRUE if abs(found - stated) <= CLOSE * max(1, found) else FALSE)", "TRUE)", EXPONENT),
    of("left_out", "an example is left out twice", "total = (math.fsum(held) - removed) + sum(a)", "total = (math.fsum(held) - 2 * removed) + sum(a)", EXPONENT),
    of("query", "class weights are forgotten", 'if name == "error" and self.weights is not None:\n            weighed', 'if False:\n            weighed', f"{SOLVER} {FACTS}"),
    of("query", "margins are not held", "return first - second >= self.bound", "return True", f"{SOLVER} {FACTS} {PROOF}"),
    of("deep_trees", "the second of equal tests is taken", "if score > most:", "if score >= most:", DEEP),
    of("deep_trees", "one column more is drawn", "if k >= self.wanted and best is not None:", "if k > self.wanted and best is not None:", DEEP),
    of("deep_trees", "cuts lie at the lower code", "tests += found(left, (code + following - 1) // 2, True)", "tests += found(left, code, True)", DEEP),
    of("deep_trees", "missing values are never asked for", "tests = found(by_code[n_codes], n_codes, False) if gone else []", "tests = []", DEEP),
    of("deep_trees", "a random cut never asks for missing values", "drawn = random.below(cuts + gone)", "drawn = random.below(cuts)", DEEP),
    of("deep_trees", "a split weighs as much as two", "split = half + sum(", "split = sum(", DEEP),
    of("deep_trees", "what stops above still reaches below", "reach[id(child)] = reach[id(node)] * (1 - node.stops)", "reach[id(child)] = reach[id(node)]", DEEP),
    of("deep_trees", "the left-out example stays", "(self._examples(n) + self.a[c] - (less if c == y else 0.0))", "(self._examples(n) + self.a[c])", DEEP),
    of("deep_trees", "parts of an example are whole ones", "less = min(1.0, self._examples(own))", "less = 1.0", DEEP),
    of("deep_trees", "trees see the hidden part", "seen = [r for r in node.rows if part[r] != hidden]", "seen = list(node.rows)", DEEP),
    of("deep_trees", "all rounds have the streams of the first", "_Stream(seed, k * (PARTS + 1) + 1 + hidden)", "_Stream(seed, 1 + hidden)", DEEP),
    of("deep_trees", "the deadline is not looked at", "if time.monotonic() > deadline:", "if False:", f"{DEEP} {EVERY}"),
    of("query", "a cost bound may be exceeded", "return all(float(value) <= float(most) for most in bounds)", "return True", f"{SOLVER} {FACTS} {PROOF}"),
    of("places", "any cut is taken", "fine = 0 < k < len(values) and between(values[k - 1], values[k]) == cut", "fine = True", CUT),
    of("places", "given cuts are not compared", "fine = cut in given", "fine = True", CUT),
    of("places", "what takes the place of missing values is no value", "found = {fill if row[j] is None else row[j] for row in cells.rows}",
       "found = {row[j] for row in cells.rows}", HONEST),
    of("cuts", "given cuts that nodes choose among are not compared", "if told is not None and not set(fine.low[1:]) <= set(told):", "if False:",
       f"{SETTING}::test_given_cuts_that_nodes_choose_among_are_those_of_the_parameters"),
    of("path_average", "nothing at nodes is compared", "(k for k in range(n) if _verdict(values[k], found[name][k]) == FALSE)", "(k for k in ())", EDITS),
    of("path_average", "a mean forgets the path", "theta = [(before * p + q) / r[node] for", "theta = [q + 0 * p for", f"{EDITS} {HONEST}"),
    of("path_average", "classes that a node lacks get as much", "return [share if n else share / z for n in counts]", "return [s / n_classes] * n_classes", f"{EDITS} {HONEST}"),
    of("path_average", "an empty leaf says that nothing is known", "found.append(mine if any(row) or above < 0 else found[above])", "found.append(mine)",
       f"{HONEST}[path-average-laplace]"),
    of("grown", "counts are not compared", "if wrong is None and found != self.counts[node]:", "if False:", GROWN),
    of("grown", "cuts may lie anywhere", "if misplaced is not None:", "if False:", GROWN),
    of("grown", "Dirichlet parameters are not compared", 'Fact(f"dirichlet{name}", quote(rows[0]), quote(asked), TRUE if same else FALSE)',
       'Fact(f"dirichlet{name}", quote(rows[0]), quote(asked), TRUE)', EDITS),
    of("grown", "leaf weights are not compared", 'Fact(f"{table}{name}", len(values), len(found), TRUE if fine else FALSE)',
       'Fact(f"{table}{name}", len(values), len(found), TRUE)', CHANGED),
    of("grown", "the kind of tree is not compared", "TRUE if self.kind == wanted else FALSE)", "TRUE)", f"{EDITS} {CHANGED}"),
    of("grown", "examples may take a branch without a node", "if child < 0 and cover:", "if False:", GROWN),
    of("grown", "options that lead to one node may disagree", "elif child >= 0 and covers.setdefault(child, cover) != cover:",
       "elif child >= 0 and covers.setdefault(child, cover) is None:", GROWN),
    of("every", "examples are not compared", "len(examples.counts), FALSE if wrong else TRUE, note)", "len(examples.counts), TRUE, note)", EVERY),
    of("every", "weights of classes are forgotten", '{"class_weight": params.get("class_weight")}', "{}", f"{HONEST}[every-balanced]"),
    of("every", "weights are called checked", "None, UNCHECKED, note, predicts=True)\n    )", "None, UNCHECKED, note)\n    )", EVERY),
    of("every", "the pool forgets the shares", "space.weights[c] * (said[c] - math.log(share))", "space.weights[c] * said[c]", EVERY),
    of("every", "left-out answers are not compared", "if decided != answers:", "if False:", EVERY),
    of("every", "losses are not compared", "fine = is_number(claimed) and math.isclose(claimed, found, rel_tol=LOSS, abs_tol=LOSS)", "fine = True", EVERY),
]  # fmt: skip
