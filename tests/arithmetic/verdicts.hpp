// SPDX-License-Identifier: MIT
//
// Prints verdicts as the Test Anything Protocol, with figures as comments.
#pragma once

#include <cstdio>

namespace tinyattn::test {

class Verdicts {
 public:
  void that(bool holds, const char* name) {
    std::printf("%s %d - %s\n", holds ? "ok" : "not ok", ++count_, name);
    all_hold_ = all_hold_ && holds;
  }

  // The plan, and the status for main to return.
  int finish() const {
    std::printf("1..%d\n", count_);
    return all_hold_ && count_ != 0 ? 0 : 1;
  }

 private:
  int count_ = 0;
  bool all_hold_ = true;
};

}  // namespace tinyattn::test
