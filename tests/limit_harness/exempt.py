"""Public names that no call of the harness stands for, each with the reason why it needs no limit."""

from __future__ import annotations

__all__ = ["CLASSES", "COMMANDS", "NAMES"]

VALUE = "a value: what it does is linear in itself"
ANSWER = "an answer that is computed already: it only reads itself"
PLAN = "reads or writes a short text"
STORED = "reads what was drawn or stored by a call of the harness"

# Classes none of whose methods can take long.
CLASSES = {
    "BaseRate": VALUE, "DepthDecay": VALUE, "Support": VALUE, "Margin": VALUE, "ChiSquare": VALUE,
    "Prior": VALUE, "BalancedPrior": VALUE, "PriorTables": VALUE, "UniformPrior": VALUE, "SizePrior": VALUE,
    "LeafPenaltyPrior": VALUE,
    "ShapePrior": VALUE, "CodingPrior": VALUE, "Query": VALUE,
    "DataError": VALUE, "EverytreeError": VALUE, "LimitReached": VALUE, "NoTreeError": VALUE, "QueryError": VALUE,
    "Tree": VALUE, "MultiwayTree": VALUE, "OptionTree": VALUE, "PathTree": VALUE, "TreeMean": VALUE,
    "Bracket": ANSWER, "PredictionBracket": ANSWER, "DepthProfile": ANSWER, "Estimate": ANSWER, "Moments": ANSWER,
    "Explanation": ANSWER, "RowExplanation": ANSWER, "TopTrees": ANSWER, "StrategyRun": ANSWER,
    "EvidenceFit": ANSWER,
    "LeftOutFit": ANSWER,
    "CollapsedPosterior": STORED, "CompressedRules": STORED, "CompressedClassifier": STORED,
    "AveragedPosterior": "a weighted mean of posteriors, each of which is asked under its own limits",
    "NearBest": STORED, "ItemsetDatabase": "asks TreeSpace.mine's strategies, which compare_strategies stands for",
    "Binarizer": "linear in the rows; classifiers call it under their limits",
}  # fmt: skip

EXPORT = "linear in the tree or the rules that are written"

# Single functions and methods. ``*.name`` holds for every class.
NAMES = {
    "*.to_c": EXPORT, "*.to_excel": EXPORT, "*.to_javascript": EXPORT, "*.to_onnx": EXPORT, "*.to_pmml": EXPORT,
    "*.to_python": EXPORT, "*.to_sklearn": EXPORT, "*.to_sql": EXPORT, "*.portable": EXPORT,
    "*.known_values": VALUE, "*.n_deep_trees": VALUE,
    "*.weights_of_models": VALUE, "*.saved_by_models": VALUE, "*.most_leaves": VALUE, "*.prior_of": VALUE,
    "TreeSpace.node_tests": "linear in the rows of one node",
    "Table.class_examples": VALUE, "Table.examples": VALUE, "Table.in_examples": VALUE, "Table.per_example": VALUE,
    "Table.given": VALUE, "Table.given_among": VALUE,
    "cluster.distribute": "what is asked of it, on workers", "cluster.results": "what is asked of it, on workers",
    "cluster.use_backend": VALUE,
    "format_query": PLAN, "parse_query": PLAN,
    "explain_row": "one row",
    "TreeSpace.advice": ANSWER, "TreeSpace.attributes_for": VALUE, "TreeSpace.binarizer": VALUE,
    "TreeSpace.classes": VALUE, "TreeSpace.limits": VALUE,
    "TreeSpace.make_rows": "linear in the table; questions call it, and count it, under their limits",
    "TreeSpace.check_offered": VALUE, "TreeSpace.core_table": "linear in the rows", "TreeSpace.n_tests": VALUE,
    "TreeSpace.question": VALUE, "TreeSpace.refuse_local": VALUE, "TreeSpace.rows_of": "linear in the rows",
    "TreeSpace.forget_searches": VALUE,
    "TreeSpace.stop": VALUE, "TreeSpace.table": VALUE, "TreeSpace.take_over": VALUE, "TreeSpace.test_names": VALUE,
    "TreeSpace.table_of_search": "linear in the table, under the limits",
    "TreeSpace.tree_of": VALUE, "TreeSpace.without_graphs": VALUE,
    "Posterior.asked_of": VALUE, "Posterior.checked_rows": "linear in the rows", "Posterior.clipped": VALUE,
    "Posterior.drawn_keys": "what Posterior.sample asks", "Posterior.folded": VALUE,
    "Posterior.log_evidence": VALUE,
    "Posterior.log_joint": "one tree", "Posterior.log_prob": "one tree", "Posterior.space": VALUE,
    "Posterior.tree_of": VALUE,
    "*.about_tree": ANSWER, "*.added": ANSWER, "*.answers": "predict_proba, with the classes", "*.as_text": ANSWER,
    "*.attribute_inclusion": "Posterior.test_inclusion", "*.checked_costs": VALUE, "*.column_kinds": VALUE,
    "*.column_names": VALUE, "*.columns_from_json": VALUE, "*.columns_to_json": VALUE,
    "*.compress": "Posterior.compress, or Posterior.sample", "*.proba_of_frame": "predict_proba",
    "*.exponent_claims": VALUE, "*.power_": VALUE, "*.shown_tree": ANSWER,
    "*.decide": "linear in the rows", "*.describe_tree": ANSWER, "*.dirichlet_by_depth": VALUE, "*.display": ANSWER,
    "*.explain": "one row", "*.explain_row": "one row", "*.facts": ANSWER, "*.feature_importances_": ANSWER,
    "*.fingerprint": "one pass over the rows", "*.finish_loading": "load_model",
    "*.fit_table": "fit, of counted rows",
    "*.front_options": VALUE, "*.headline": ANSWER, "*.in_force": VALUE, "*.kept_in_file": ANSWER,
    "*.label_name": VALUE,
    "*.mean_leaves": ANSWER, "*.min_samples_leaf": VALUE, "*.new_binarizer": VALUE, "*.page_options": VALUE,
    "*.restore_from_file": "load_model", "*.root_counts": ANSWER, "*.sampling_error": ANSWER,
    "*.save": "linear in the model (tests/test_drafts.py)", "*.score_table": "predict_proba",
    "*.set_fit_request": VALUE,
    "*.set_params": VALUE, "*.set_partial_fit_request": VALUE, "*.set_score_request": VALUE, "*.space_over": VALUE,
    "*.to_tests": "linear in the rows", "*.to_text": ANSWER, "*.tree_space": VALUE,
    "*.top_trees": "Posterior.top_trees",
    "*.TREE": VALUE, "*.apply": "one tree", "*.predict": "predict_proba, or one tree",
    "*.predict_log_proba": "predict_proba",
    "*.predict_proba": "one tree a row, or BayesOptimalClassifier.predict_proba", "*.raw_proba": "predict_proba",
    "*.predict_error": STORED, "*.summary": STORED, "*.to_inference_data": STORED,
    "*.nearest_tree": "OptimalTreeClassifier.fit",
    "Table.binarizer": VALUE, "Table.class_counts": VALUE, "Table.class_totals": VALUE, "Table.classes": VALUE,
    "Table.coded": VALUE,
    "Table.columns": VALUE, "Table.encoded": VALUE, "Table.fingerprint": "one pass over the rows",
    "Table.n_classes": VALUE,
    "Table.n_rows": VALUE,
    "Table.n_tests": VALUE, "Table.named": VALUE, "Table.of": VALUE, "Table.rows": VALUE,
    "Table.target": VALUE, "Table.test_names": VALUE, "Table.total": VALUE, "Table.trusted": VALUE,
}  # fmt: skip

# Commands.
COMMANDS = {
    "methods": PLAN, "info": PLAN,
    "demo": "fits on a small data set of its own (tests/cli)",
    "study": "many fits, each as the harness asks it; what is finished is kept",
    "explore": "a server that runs until it is ended (tests/test_kills.py, tests/report)",
}  # fmt: skip
