// SPDX-License-Identifier: MIT
//
// Searches for the settings of the training, on seeds 1 to 160 and separate test sequences: first at random, then around the best so far.
// Prints each new best.
//
//   search SECONDS SEED
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "model.hpp"

namespace learner { namespace {

constexpr std::size_t seeds = 160, sequences = 60;
constexpr double most_errors = .01, for_a_failure = .02;
constexpr double random_share = .4;  // of the time

// Each setting, and the interval from which it is drawn at random.
struct Searched {
  float& value;
  float low, high;
};
std::array<Searched, 9> searched(Settings& s) {
  return {{{s.range.token, .05f, 2},
           {s.range.position, .05f, 2},
           {s.range.query_and_key, .05f, 1.5f},
           {s.range.value, .05f, 2.5f},
           {s.range.head, .02f, 1},
           {s.rate.embedding, .03f, 4},
           {s.rate.attention, .03f, 4},
           {s.rate.head, .03f, 4},
           {s.max_norm, .1f, 10}}};
}

double share_wrong(Memory& memory, std::size_t seed) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < sequences; ++i) right += count_right(memory, draw(seed, Stream::search, i));
  return 1.0 - static_cast<double>(right) / (length * sequences);
}

// Returns the cost of settings, a mean over seeds: the share of wrong digits, plus a penalty if the seed fails. It counts four times at the
// end, and once after five sixths of the steps. Gives up beyond `limit`.
double judge(Memory& memory, const Settings& settings, double limit) {
  double sum = 0.0;
  for (std::size_t seed = 1; seed <= seeds && sum < limit * seeds; ++seed) {
    start(memory, settings, seed);
    for (std::size_t step = 0; step < steps; ++step) {
      learn(memory, settings, seed, step);
      const int weight = step + 1 == steps ? 4 : step + 1 == steps * 5 / 6 ? 1 : 0;
      if (weight == 0) continue;
      const double wrong = share_wrong(memory, seed);
      sum += weight * (wrong + (wrong > most_errors ? for_a_failure : 0.0));
    }
  }
  return sum / seeds;
}

class Search {
 public:
  Search(double seconds, unsigned seed) : generator_(seed), seconds_(seconds) {}

  void run() {
    while (elapsed() < random_share * seconds_) try_settings(drawn());
    while (elapsed() < seconds_) try_settings(near_best());
    std::printf("%zu settings tried\n", tried_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  Settings drawn() {
    Settings settings{};
    for (const Searched& s : searched(settings)) s.value = s.low * std::pow(s.high / s.low, uniform_(generator_));
    return settings;
  }
  Settings near_best() {
    Settings settings = best_;
    const float far = .3f * std::exp(2.0f * (uniform_(generator_) - 1.0f));
    for (const Searched& s : searched(settings))
      if (uniform_(generator_) < .6f) s.value = std::fmin(s.high, s.value * std::exp(far * normal_(generator_)));
    return settings;
  }
  void try_settings(Settings settings) {
    ++tried_;
    const double badness = judge(memory_, settings, least_);
    if (badness >= least_) return;
    least_ = badness;
    best_ = settings;
    std::printf("%6.1f s  %.4f ", elapsed(), badness);
    for (const Searched& s : searched(settings)) std::printf(" %.4g", static_cast<double>(s.value));
    std::printf("\n");
    std::fflush(stdout);
  }

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  std::mt19937 generator_;
  std::uniform_real_distribution<float> uniform_;
  std::normal_distribution<float> normal_;
  double seconds_, least_ = 1e9;
  std::size_t tried_ = 0;
  Settings best_{};
  Memory memory_;
};

}}  // namespace learner

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: search SECONDS SEED\n", stderr), 2;
  static learner::Search search(std::strtod(argv[1], nullptr), static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
  search.run();
}
