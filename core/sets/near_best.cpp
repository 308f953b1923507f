// Counting the near-best set and its use of tests. Rows: near_rows.cpp; which states belong to it: near_set.cpp.
#include "sets/near_best.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/parallel.hpp"
#include "sets/near_count.hpp"

namespace everytree {

namespace {

Natural natural(std::uint64_t x) { return Natural(x); }
Natural natural(Limb2 x) {
  Natural out(static_cast<std::uint64_t>(x >> 64));
  out = out * (Natural(std::uint64_t{1} << 63) * Natural(2));
  out += Natural(static_cast<std::uint64_t>(x));
  return out;
}
Natural natural(const Natural& x) { return x; }

Natural minus(const Natural& x, const Natural& y) {  // x ≥ y
  Natural out;
  const Natural two_64 = Natural(std::uint64_t{1} << 63) * Natural(2);
  std::vector<std::uint64_t> limbs(x.limbs());
  std::uint64_t borrow = 0;
  for (std::size_t k = 0; k < limbs.size(); ++k) {
    const std::uint64_t b = k < y.limbs().size() ? y.limbs()[k] : 0;
    const std::uint64_t part = limbs[k] - b, next = part - borrow;
    borrow = (limbs[k] < b) | (part < borrow);
    limbs[k] = next;
  }
  for (std::size_t k = limbs.size(); k-- > 0;) {
    out = out * two_64;
    out += Natural(limbs[k]);
  }
  return out;
}

}  // namespace

NearBest::NearBest(std::shared_ptr<const Graph> graph, std::size_t most_leaves, std::size_t n_threads, Control& control)
    : graph_(std::move(graph)), n_threads_(n_threads) {
  if (most_leaves == 0) throw InvalidInput("most_leaves must be at least 1: every tree has a leaf");
  least_.emplace(*graph_, most_leaves, n_threads, control);
}

std::vector<std::int32_t> NearBest::least() const {
  if (!least_) throw std::logic_error("the least errors were given up when the set was kept");
  const auto root = least_->of(0);
  std::vector<std::int32_t> out(root.begin(), root.end());
  for (std::int32_t& x : out)
    if (x >= LeastErrors::kNever) x = -1;
  return out;
}

void NearBest::keep(const std::vector<std::int32_t>& limits, Control& control) {
  if (!least_) throw std::logic_error("the set is kept already");
  set_ = std::make_unique<const NearSet>(*graph_, *least_, limits, control);
  least_.reset();
  const std::size_t n = set_->n_cells(), room = graph_->bytes() + set_->bytes();
  control.check_memory(room + n * 16);
  approximate_ = count_cells<double>(*set_, control);
  double total = 0;
  if (n > 0)
    for (std::size_t k = set_->first_cell(set_->node(0), 1);
         k < set_->first_cell(set_->node(0), set_->node(0).most + 1); ++k)
      total += approximate_[k];
  // No number met on the way exceeds the total, which the doubles know to more than ten digits.
  if (total < 0x1.0p62) {
    exact_ = count_cells<std::uint64_t>(*set_, control);
  } else if (total < 0x1.0p125) {
    control.check_memory(room + n * 24);
    exact_ = count_cells<Wide128>(*set_, control);
  } else {
    control.check_memory(room + n * 120);
    exact_ = count_cells<Natural>(*set_, control);
  }
}

const NearSet& NearBest::set() const {
  if (!set_) throw std::logic_error("no set is kept yet");
  return *set_;
}

std::size_t NearBest::bytes() const {
  return (least_ ? least_->bytes() : 0) + (set_ ? set_->bytes() : 0) + approximate_.capacity() * 8 +
         std::visit([](const auto& x) { return x.capacity() * sizeof(x[0]); }, exact_);
}

std::vector<NearBest::Cell> NearBest::cells(std::size_t v) const {
  const NearSet& set = this->set();
  if (v >= set.size()) throw InvalidInput("the set has no node " + std::to_string(v));
  const NearSet::Node& node = set.node(v);
  std::vector<Cell> out;
  for (std::size_t l = 1; l <= node.most; ++l)
    for (std::size_t k = set.first_cell(node, l); k < set.first_cell(node, l + 1); ++k)
      out.push_back(
          {l, set.cell_errors()[k], std::visit([&](const auto& value) { return natural(value[k]); }, exact_)});
  return out;
}

std::vector<Natural> NearBest::by_split(std::size_t v, std::size_t leaves, std::int32_t errors) const {
  const NearSet& set = this->set();
  if (v >= set.size()) throw InvalidInput("the set has no node " + std::to_string(v));
  const std::int32_t* cell = set.cell_errors();
  std::vector<Natural> out;
  std::visit(
      [&](const auto& value) {
        using Number = typename std::decay_t<decltype(value)>::value_type;
        for (const auto& split : set.splits(set.node(v))) {
          const NearSet::Node &c1 = set.node(split.child[1]), &c0 = set.node(split.child[0]);
          Number sum(0);
          for (std::size_t l1 = 1; l1 <= c1.most && l1 < leaves; ++l1) {
            if (leaves - l1 > c0.most) continue;
            // Errors rise in both rows, so as one goes up the other goes down.
            std::size_t k0 = set.first_cell(c0, leaves - l1 + 1);
            const std::size_t begin0 = set.first_cell(c0, leaves - l1);
            for (std::size_t k1 = set.first_cell(c1, l1); k1 < set.first_cell(c1, l1 + 1); ++k1) {
              while (k0 > begin0 && cell[k0 - 1] > errors - cell[k1]) --k0;
              if (k0 > begin0 && cell[k0 - 1] == errors - cell[k1]) sum += value[k1] * value[k0 - 1];
            }
          }
          out.push_back(natural(sum));
        }
      },
      exact_);
  return out;
}

// Trees with test t = all − trees without t. Tests of one class are used equally often, so one of them is asked about;
// and only nodes with t somewhere below are folded again.
std::vector<Natural> NearBest::test_use(Control& control) const {
  const NearSet& set = this->set();
  const auto& classes = graph_->table().test_classes();
  std::vector<std::vector<std::uint32_t>> sets_of(classes.size());  // test sets with tests of a class
  constexpr std::uint32_t kNone = 0xffffffffu;                      // a constant column is in no class, and in no tree
  std::vector<std::uint32_t> class_of(graph_->table().n_tests(), kNone);
  for (std::uint32_t k = 0; k < classes.size(); ++k)
    for (std::uint32_t member : classes[k].members) class_of[member >> 1] = k;
  for (std::uint32_t id = 0; id < set.n_test_sets(); ++id)
    for (std::uint32_t test : set.test_set(id))
      if (const std::uint32_t k = class_of[test >> 1]; k != kNone && test >> 1 == classes[k].test)
        sets_of[k].push_back(id);

  std::vector<Natural> with(classes.size());
  const NearSet::Node& root = set.node(0);
  std::visit(
      [&](const auto& value) {
        using Number = typename std::decay_t<decltype(value)>::value_type;
        control.check_memory(graph_->bytes() + bytes() + value.size() * sizeof(Number) * n_threads_);
        Number total(0);
        for (std::size_t k = set.first_cell(root, 1); k < set.first_cell(root, root.most + 1); ++k) total += value[k];
        struct Buffers {
          std::vector<Number> without, node;
          std::vector<std::uint8_t> touched, has;
          CellBuffer cells;
        };
        std::vector<Buffers> buffers(std::max<std::size_t>(1, n_threads_));
        for_each_parallel(
            classes.size(), n_threads_, control, "leaving out each test", [&](std::size_t t, std::size_t worker) {
              Buffers& b = buffers[worker];
              b.without.resize(value.size());
              b.touched.assign(set.size(), 0);
              b.has.assign(set.n_test_sets(), 0);
              for (std::uint32_t id : sets_of[t]) b.has[id] = 1;
              for (std::size_t v = set.size(); v-- > 0;) {
                const NearSet::Node& node = set.node(v);
                bool touched = false;
                for (const auto& s : set.splits(node))
                  if ((touched = b.has[s.tests] || b.touched[s.child[0]] || b.touched[s.child[1]])) break;
                for (const auto& c : set.cherries(node)) {
                  if (touched) break;
                  touched = b.has[c.tests];
                }
                if (!touched) continue;
                const auto tick = [&] { control.check(worker == 0, "leaving out each test", t, classes.size()); };
                if ((v & 63) == 0) tick();
                b.touched[v] = 1;
                count_node<Number>(
                    set, node, b.cells, b.node,
                    [&](std::uint32_t child) { return b.touched[child] ? b.without.data() : value.data(); },
                    [&](std::uint32_t tests) {
                      return static_cast<std::uint64_t>(set.test_set(tests).size()) - b.has[tests];
                    },
                    tick);
                b.cells.for_cells([&](std::size_t k, std::size_t at) { b.without[k] = b.node[at]; });
              }
              if (!b.touched[0]) return;
              Number rest(0);
              for (std::size_t k = set.first_cell(root, 1); k < set.first_cell(root, root.most + 1); ++k)
                rest += b.without[k];
              with[t] = minus(natural(total), natural(rest));
            });
      },
      exact_);
  std::vector<Natural> out(graph_->table().n_tests());
  for (std::uint32_t test = 0; test < out.size(); ++test)
    if (class_of[test] != kNone) out[test] = with[class_of[test]];
  return out;
}

}  // namespace everytree
