// Runs a fuzz target without libFuzzer:
//     fuzz_fold 60 7        random inputs for 60 seconds, from seed 7 (defaults: 2 seconds, seed 1)
//     fuzz_fold crash.bin   one input from a file, or every file of a folder
// Input k of a seed is always the same; a failure prints it and leaves it in <target>.input.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Present in a sanitized program: called when a sanitizer ends it.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace {

std::vector<std::uint8_t> input;
std::string kept;

void keep() {
  std::ofstream(kept, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  std::fprintf(stderr, "the input is in %s\n", kept.c_str());
}

int run() {
  try {
    LLVMFuzzerTestOneInput(input.data(), input.size());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "differs: %s\n", e.what());
    keep();
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  kept = std::string(argv[0]) + ".input";
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep);
  if (argc > 1 && std::filesystem::exists(argv[1])) {
    std::vector<std::filesystem::path> files{argv[1]};
    if (std::filesystem::is_directory(argv[1]))
      files.assign(std::filesystem::directory_iterator(argv[1]), std::filesystem::directory_iterator());
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      input.assign(std::istreambuf_iterator<char>(file), {});
      if (run() != 0) {
        std::fprintf(stderr, "input %s\n", path.string().c_str());
        return 1;
      }
    }
    std::printf("%zu inputs, no difference\n", files.size());
    return files.empty() ? 1 : 0;
  }
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2.0;
  const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
  if (!(seconds > 0)) {
    std::fprintf(stderr, "\"%s\" is neither a file nor a number of seconds above 0\n", argv[1]);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t k = 0;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds; ++k) {
    std::mt19937_64 random(seed * 1000003 + k);
    input.resize(random() % 512);
    for (auto& x : input) x = static_cast<std::uint8_t>(random());
    if (run() != 0) {
      std::fprintf(stderr, "input %llu of seed %llu\n", static_cast<unsigned long long>(k),
                   static_cast<unsigned long long>(seed));
      return 1;
    }
  }
  std::printf("%llu inputs, no difference\n", static_cast<unsigned long long>(k));
  return k == 0 ? 1 : 0;
}
