#!/bin/sh
# Choose a C++ compiler and write <venv>/compiler.sh, which sets CC and CXX:  find_compiler.sh <venv>
# The first of $CXX, c++, g++, clang++ that builds a C++20 program; else the clang in PyPI's `ziglang`.
set -eu
venv=$(cd "$1" && pwd)
out=$venv/compiler.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Headers and linker are tried too: a compiler alone is not enough.
cat >"$work/probe.cpp" <<'CPP'
#include <bit>
#include <concepts>
#include <span>
#include <vector>
template <std::integral T> int ones(T x) { return std::popcount(x); }
int main() { std::vector<int> v{1, 2}; return static_cast<int>(std::span<int>(v).size()) - ones(3u); }
CPP

for cxx in ${CXX:-} c++ g++ clang++; do
  if command -v "$cxx" >/dev/null 2>&1 && "$cxx" -std=c++20 "$work/probe.cpp" -o "$work/probe" 2>/dev/null; then
    cxx=$(command -v "$cxx")
    printf 'export CXX="%s"\n' "$cxx" >"$out"
    echo "==> C++ compiler: $cxx"
    exit 0
  fi
done

echo "==> No C++20 compiler found (tried: ${CXX:-} c++ g++ clang++); using the one in PyPI's ziglang."
echo "    Its first use compiles its own C++ library: a few minutes."
"$venv/bin/python" -m pip --disable-pip-version-check install --quiet ziglang
zig=$venv/zig
mkdir -p "$zig"
# -mcpu=baseline: without it zig compiles everything for this very CPU, and the kernels' own flags mean nothing.
for tool in cc c++; do
  cat >"$zig/$tool" <<SH
#!/bin/sh
case " \$* " in
  *" -c "* | *" -E "* | *" -S "* | *" -M "* | *" -MM "*) extra= ;;
  *" -o "*) extra="$zig/cpu_model.o" ;;
  *) extra= ;;
esac
exec "$venv/bin/python" -m ziglang $tool -mcpu=baseline "\$@" \${extra:+"\$extra"}
SH
done
# CMake finds these two beside the compiler.
for tool in ar ranlib; do
  printf '#!/bin/sh\nexec "%s/bin/python" -m ziglang %s "$@"\n' "$venv" "$tool" >"$zig/$tool"
done
chmod +x "$zig"/cc "$zig"/c++ "$zig"/ar "$zig"/ranlib
"$zig/cc" -O2 -fPIC -c "$(dirname "$0")/zig_cpu_model.c" -o "$zig/cpu_model.o"
"$zig/c++" -std=c++20 "$work/probe.cpp" -o "$work/probe"
printf 'export CC="%s/cc"\nexport CXX="%s/c++"\n' "$zig" "$zig" >"$out"
echo "==> C++ compiler: $zig/c++"
