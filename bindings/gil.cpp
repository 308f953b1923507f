#include "gil.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <thread>
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#include "common/control.hpp"
#if defined(__unix__) || defined(__APPLE__)
#define EVERYTREE_HAS_SIGNAL_MASKS
#endif

namespace everytree::bind {

namespace {

using namespace std::chrono_literals;

std::atomic<std::int64_t> running{0};  // threads that live in Unlocked
// Threads that are asking for the lock, or that have got it to tell of progress; the highest bit closes the gate.
std::atomic<std::uint64_t> gate{0};
constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;

// What this thread has of both: a callback may fork, and its thread is the one that goes on in the child.
thread_local std::int64_t running_here = 0;
thread_local std::uint64_t gate_here = 0;

bool pass_gate() {
  if ((gate.fetch_add(1) & kClosed) == 0) {
    ++gate_here;
    return true;
  }
  gate.fetch_sub(1);
  return false;
}
void leave_gate() {
  --gate_here;
  gate.fetch_sub(1);
}

// Signals of a process go to any of its threads that does not block them, such as one that starts another thread just
// then. Python acts on them in its main thread only, and would not learn of one while that sleeps or waits for a lock.
// So other threads block them as long as they are in the core, and so do the threads that they start.
unsigned long main_thread = 0;  // as Python numbers them

bool in_main_thread() { return PyThread_get_thread_ident() == main_thread; }

#ifdef EVERYTREE_HAS_SIGNAL_MASKS
void block_signals(SignalMask& before) {
  before.blocked = !in_main_thread();
  if (!before.blocked) return;
  sigset_t some;
  sigemptyset(&some);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM}) sigaddset(&some, signal);
  pthread_sigmask(SIG_BLOCK, &some, &before.mask);
}
void unblock_signals(const SignalMask& before) {
  if (before.blocked) pthread_sigmask(SIG_SETMASK, &before.mask, nullptr);
}
#else
void block_signals(SignalMask&) {}
void unblock_signals(const SignalMask&) {}
#endif

[[noreturn]] void sleep_until_the_end() {
  for (;;) std::this_thread::sleep_for(1h);
}

// A thread that Python ends inside of another library's C++, as numpy.unique is, would take the process with it.
std::terminate_handler terminate_before = nullptr;

[[noreturn]] void terminate_at_the_end() {
  if (!in_main_thread()) sleep_until_the_end();
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

void stop_work() {
  constexpr auto kPatience = 10s;  // for a callback, or for a step that looks at no limit
  constexpr auto kMoment = 20ms;   // that Python has to learn how a question ended
  Control::stop_all(true);
  PyThreadState* thread = PyEval_SaveThread();
  const bool any = running.load() > 0;
  const auto until = Control::Clock::now() + kPatience;
  while (running.load() > 0 && Control::Clock::now() < until) std::this_thread::sleep_for(1ms);
  if (any) std::this_thread::sleep_for(kMoment);
  gate.fetch_or(kClosed);
  while ((gate.load() & ~kClosed) > 0 && Control::Clock::now() < until + 1s) std::this_thread::sleep_for(1ms);
  PyEval_RestoreThread(thread);
  if (std::get_terminate() != &terminate_at_the_end) terminate_before = std::set_terminate(&terminate_at_the_end);
}

// The other threads of a process are not there in a fork of it.
void forget_threads() {
  running = running_here;
  gate = gate_here;
  main_thread = PyThread_get_thread_ident();  // whichever thread forked is the child's only one
}

}  // namespace

Unlocked::Unlocked() {
  if (Control::all_stopped()) {
    // Of an error Python makes an object, and may give the lock away meanwhile: a thread that does not get it back is
    // ended inside of C++. Only daemon threads are still there, and nobody waits for them.
    if (!in_main_thread()) {
      PyEval_SaveThread();
      sleep_until_the_end();
    }
    throw LimitReached(LimitReached::Reason::stopped, "stopped: the interpreter is ending");
  }
  ++running;
  ++running_here;
  block_signals(before_);
  thread_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  if (!pass_gate()) sleep_until_the_end();
  PyEval_RestoreThread(thread_);
  unblock_signals(before_);
  leave_gate();
  --running_here;
  --running;
}

Locked::Locked() {
  if (Control::all_stopped() || !pass_gate()) throw LimitReached(LimitReached::Reason::stopped, "stopped");
  state_ = PyGILState_Ensure();
}

Locked::~Locked() {
  PyGILState_Release(state_);
  leave_gate();
}

PyObject* call_python(PyObject* f, PyObject* arguments) {
#if defined(__GLIBCXX__)
  try {
    return PyObject_CallObject(f, arguments);
  } catch (abi::__forced_unwind&) {
    sleep_until_the_end();
  }
#else
  return PyObject_CallObject(f, arguments);
#endif
}

void stop_work_at_exit(nanobind::module_& m) {
  namespace nb = nanobind;
  m.def("_stop_work", &stop_work, "Stop what runs in other threads, because the interpreter ends.");
  m.def("_forget_threads", &forget_threads, "Of a process that was just forked.");
  nb::module_::import_("atexit").attr("register")(m.attr("_stop_work"));
  // Not the one that imports this, which may be any.
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  const nb::object os = nb::module_::import_("os");
  if (nb::hasattr(os, "register_at_fork"))
    os.attr("register_at_fork")(nb::arg("after_in_child") = m.attr("_forget_threads"));
}

}  // namespace everytree::bind
