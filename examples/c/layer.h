/* SPDX-License-Identifier: MIT
 *
 * Six tokens of three features, "Your journey starts with one step", and the weights of a causal layer with two heads. */
#ifndef TINYATTN_EXAMPLES_C_LAYER_H
#define TINYATTN_EXAMPLES_C_LAYER_H

enum { num_tokens = 6, d_in = 3, d_out = 4, num_heads = 2 };

static const float tokens[num_tokens * d_in] = {
    0.43f, 0.15f, 0.89f, /* Your    */
    0.55f, 0.87f, 0.66f, /* journey */
    0.57f, 0.85f, 0.64f, /* starts  */
    0.22f, 0.58f, 0.33f, /* with    */
    0.77f, 0.25f, 0.10f, /* one     */
    0.05f, 0.80f, 0.55f, /* step    */
};

static const float query_weight[d_in * d_out] = {0.3f, -0.1f, 0.5f, 0.2f, -0.4f, 0.6f, 0.1f, -0.3f, 0.2f, 0.4f, -0.5f, 0.7f};
static const float key_weight[d_in * d_out] = {-0.2f, 0.5f, 0.3f, 0.1f, 0.6f, -0.4f, 0.2f, 0.5f, 0.1f, 0.3f, -0.6f, -0.1f};
static const float value_weight[d_in * d_out] = {0.4f, 0.2f, -0.3f, 0.5f, 0.1f, -0.6f, 0.7f, 0.3f, -0.5f, 0.4f, 0.2f, -0.2f};
static const float output_weight[d_out * d_out] = {0.5f, -0.2f, 0.1f, 0.3f,  0.2f, 0.4f, -0.5f, 0.1f,
                                                   0.6f, 0.1f,  0.3f, -0.4f, 0.1f, 0.3f, 0.2f,  0.5f};
static const float output_bias[d_out] = {0.1f, -0.1f, 0.05f, 0.0f};

/* headers.cpp: the same layer with the C++ headers, its shape known to the compiler. */
#ifdef __cplusplus
extern "C"
#endif
    void
    forward_by_headers(float* out);

#endif
