#include "bind.hpp"

using namespace everytree;

NB_MODULE(_core, m) {
  // Locks of Python are asked for as of its main interpreter: in another one questions would wait for ever.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("everytree cannot be used in a subinterpreter; use threads or processes");
  // What daemon threads hold, or a collector that was frozen, is alive at the end of a process and no leak.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled core of everytree. Use it through everytree.TreeSpace and the estimators.";
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    // Our own errors carry the library's types. Everything else keeps nanobind's translation.
    const auto raise = [](const char* type, const char* what) {
      nb::object errors = nb::module_::import_("everytree.errors");
      PyErr_SetString(nb::object(errors.attr(type)).ptr(), what);
    };
    try {
      std::rethrow_exception(p);
    } catch (const LimitReached& e) {
      constexpr const char* kReasons[] = {"time", "memory", "stopped"};
      nb::object type = nb::module_::import_("everytree.errors").attr("LimitReached");
      const nb::tuple arguments = nb::make_tuple(e.what(), kReasons[static_cast<int>(e.reason)]);
      const nb::object error = nb::steal(bind::call_python(type.ptr(), arguments.ptr()));
      if (error.is_valid()) PyErr_SetObject(type.ptr(), error.ptr());
    } catch (const InvalidInput& e) {
      raise("DataError", e.what());
    }
  });
  bind::stop_work_at_exit(m);
  bind::bind_kernels(m);
  bind::bind_tie(m);
  bind::bind_weights(m);
  bind::bind_graph(m);
  bind::bind_query(m);
  bind::bind_near_best(m);
  bind::bind_posterior(m);
  bind::bind_compress(m);
  bind::bind_mine(m);
  bind::bind_search(m);
  bind::bind_ordered(m);
  bind::bind_collapsed(m);
  bind::bind_mcmc(m);
  bind::bind_forest(m);
  bind::bind_grow(m);
  bind::bind_grow_options(m);
  bind::bind_path_average(m);
  bind::bind_option_graph(m);
}
