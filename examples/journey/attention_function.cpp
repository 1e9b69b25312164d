// SPDX-License-Identifier: MIT
//
// attention(query, key, value) by itself: the function that every layer calls, on numbers that can be checked by hand.
#include "stages.hpp"

namespace journey {

void attention_function(Report& report) {
  report.stage("attention(query, key, value)",
               "   A dictionary that answers with a mixture: the query \"fruit\" meets the keys \"apple\",\n"
               "   \"banana\" and \"car\", and gets their values in the measure of the match.");
  const auto query = at_run_time(tinyattn::matrix<float>({{1.0f, 0.5f, -0.3f, 0.8f}}));
  const auto key = at_run_time(tinyattn::matrix<float>({{0.9f, 0.4f, -0.2f, 0.7f}, {0.8f, 0.6f, -0.1f, 0.6f}, {-0.5f, 0.2f, 0.9f, -0.4f}}));
  const auto value = at_run_time(tinyattn::matrix<float>({{1.2f, 0.3f, 0.5f, 0.9f}, {1.0f, 0.4f, 0.6f, 0.8f}, {0.2f, 0.9f, 1.1f, 0.1f}}));
  report.table("query", "fruit", "One row, d_k = 4 features.", query);
  report.table("key", "apple, banana, car", "Three rows.", key);
  report.table("value", "of apple, banana, car", "Three rows.", value);

  const auto scores = matmul_transposed(query, key);
  report.table("scores", "query @ key.T", "Apple and banana match, car does not.", scores);
  report.table("p_attn_unscaled", "softmax(scores)", "51 % apple, 46 % banana, 3 % car.", softmax(scores));

  tinyattn::Matrix<float, 1, 4> output{};
  tinyattn::Matrix<float, 1, 3> p_attn{};
  scaled_dot_product_attention(query, key, value, tinyattn::NoMask{}, output, p_attn);
  report.table("p_attn", "softmax(scores / d_k ** 0.5)", "The scale, one half here, evens the shares out.", p_attn);
  report.table("output", "p_attn @ value", "What attention(query, key, value) returns.", output);

  const auto narrow = scaled_dot_product_attention(query, key, tinyattn::columns<2>(value, 0));
  report.table("output_d_v_2", "attention(query, key, value[:, 0:2])",
               "A value may be narrower than a key: d_v = 2, d_k = 4. The same first two features.", narrow);
}

}  // namespace journey
