// Shared by the binding files: array types, keys and running without the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "common/control.hpp"
#include "common/errors.hpp"
#include "down/new_rows.hpp"
#include "gil.hpp"
#include "table/count_table.hpp"
#include "weights/dirichlet.hpp"
#include "weights/leaf_cost.hpp"
#include "weights/prior.hpp"

namespace nb = nanobind;

namespace everytree::bind {

// C-contiguous, read-only, on the CPU. Bound with noconvert: a wrong dtype is an error, never a silent cast.
using Rows = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reach = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Pairs = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RealMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

// Columns of a table: kind, first test, end of the tests, missing and bins of each, and their uppers.
using ColumnRows = nb::ndarray<const std::int32_t, nb::shape<-1, 5>, nb::c_contig, nb::device::cpu>;
using UpperTables =
    std::vector<std::optional<nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>>;
Columns read_columns(const ColumnRows& rows, std::size_t n_tests, const UpperTables& tables);

// Limits, progress and interruption as Python sees them.
struct PyControl {
  Control control;
  nb::object progress = nb::none();
};

// Rows that were not learned from, checked against the table; see down/new_rows.hpp.
template <class R>
NewRows new_rows(const R& rows, const CountTable& table) {
  if (rows.shape(1) != table.n_tests()) throw InvalidInput("rows must have one column per test");
  if (std::same_as<R, Reach> != table.local())
    throw InvalidInput("rows are given by their outcomes, or by their reach where states choose their tests");
  if constexpr (std::same_as<R, Reach>)
    return {nullptr, rows.data(), rows.shape(0), rows.shape(1)};
  else
    return {rows.data(), nullptr, rows.shape(0), rows.shape(1)};
}

// The weights of leaves of a table; `held`: bytes that the question has already.
std::shared_ptr<const Dirichlet> tabulated(const DirichletParameters& a, const CountTable& table, Control& control,
                                           std::int64_t longest = Dirichlet::kTable, std::size_t held = 0);

// Run f without the GIL. Ctrl-C and exceptions of the progress callback end the work and are raised afterwards.
template <class F>
auto run(PyControl& c, F&& f) {
  c.control.poll = [&c](const Progress& p) {
    const Locked lock;
    // A search that is stopped may look again while it makes an answer of what it knows: the error stands already.
    bool failed = PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
    if (!failed && p.total > 0 && !c.progress.is_none()) {  // total 0: nothing to tell yet
      PyObject* told = Py_BuildValue("(snnd)", p.stage, static_cast<Py_ssize_t>(p.done),
                                     static_cast<Py_ssize_t>(p.total), p.seconds);
      PyObject* answer = told == nullptr ? nullptr : call_python(c.progress.ptr(), told);
      failed = answer == nullptr;
      Py_XDECREF(answer);
      Py_XDECREF(told);
    }
    if (failed) throw LimitReached(LimitReached::Reason::stopped, "interrupted");
  };
  try {
    const Unlocked unlocked;
    return f(c.control);
  } catch (const LimitReached&) {
    if (PyErr_Occurred()) throw nb::python_error();
    throw;
  }
}

// Arrays of one dimension, in and out.
template <class T>
using Flat = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const Flat<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.shape(0));
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> as_numpy(std::vector<T> values) {
  auto* data = new std::vector<T>(std::move(values));
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data->data(), {data->size()}, owner);
}

inline Reals to_numpy(std::vector<double> values) { return as_numpy(std::move(values)); }

void bind_kernels(nb::module_& m);
void bind_tie(nb::module_& m);
void bind_weights(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_query(nb::module_& m);
void bind_near_best(nb::module_& m);
void bind_posterior(nb::module_& m);
void bind_compress(nb::module_& m);
void bind_mine(nb::module_& m);
void bind_search(nb::module_& m);
void bind_ordered(nb::module_& m);
void bind_collapsed(nb::module_& m);
void bind_mcmc(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_grow(nb::module_& m);
void bind_grow_options(nb::module_& m);
void bind_path_average(nb::module_& m);
void bind_option_graph(nb::module_& m);

}  // namespace everytree::bind
