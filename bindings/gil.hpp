// The interpreter's lock around work in the core, and the interpreter's end while such work runs.
//
// A thread that asks for the lock of an interpreter that is shutting down never gets it: it is ended (up to Python
// 3.13) by unwinding its stack, and a stack of C++ does not survive that: the whole process aborts. So
//     the way out   first every running question is stopped, and waited for (module.cpp registers it with atexit)
//     no way in     from then on no thread takes up work in the core, and none asks for the lock to tell of progress; a
//                   thread that is not the main one sleeps where it would take up work
//     the gate      what does not end in time finds it closed when it wants the lock back, and sleeps until the process
//                   is gone
//     callbacks     a callback of Python that outlasts all patience is ended by Python, which unwinds into C++: no
//                   further than to call_python, where its thread sleeps
#pragma once

#include <nanobind/nanobind.h>

#include <csignal>

namespace everytree::bind {

// The signals that a thread blocked before it went into the core, if it is not the main one.
struct SignalMask {
  bool blocked = false;
#if defined(__unix__) || defined(__APPLE__)
  sigset_t mask{};
#endif
};

// Runs without the lock while it lives; where it is not the main thread, without signals, too. If the interpreter is on
// its way out, throws LimitReached in the main thread, and ends nowhere else.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* thread_;
  SignalMask before_;
};

// Has the lock while it lives, in a thread that runs Unlocked. Throws LimitReached if the interpreter is on its way
// out.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// What f(*arguments) returns, or null with Python's error set. The caller has the lock. Nothing here wants to be undone
// where Python ends the thread meanwhile: it has no lock then, and no object may be touched.
PyObject* call_python(PyObject* f, PyObject* arguments);

// To be called once, when the module is imported.
void stop_work_at_exit(nanobind::module_& m);

}  // namespace everytree::bind
