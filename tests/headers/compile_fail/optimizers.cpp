// SPDX-License-Identifier: MIT
//
// Optimizers: modules of another type, weights of int8, const modules, and wrong arguments.
#include "given.hpp"
#include "tinyattn/training/optimizer.hpp"

extern Linear<4, 2> head, gradient;
extern const Linear<4, 2> head_in_flash;
extern Linear<4, 3> gradient_of_another;
extern Int8Linear int8;
extern AdamW::State<Linear<4, 2>> adamw;
extern AdamW::State<Linear<4, 3>> adamw_of_another;
extern SgdMomentum::State<Linear<4, 2>> momentum;

struct Unnamed {
  Linear<4, 2> head;
};
extern Unnamed unnamed;

// expect: an optimizer takes a gradient of the type of its module
void gradient_of_another_shape() { sgd_step(head, gradient_of_another, {}); }
void gradient_of_another_shape_in_adamw() { adamw_step(head, gradient_of_another, adamw, {}); }
// expect: f32 weights alone are trained: int8 weights are made of trained floats, by quantize
void int8_stepped() { sgd_step(int8, int8, {}); }
void int8_zeroed() { zero_grad(int8); }
void int8_clipped() { clip_grad_norm(int8, 1.0f); }
// expect: an optimizer changes its module, which is const here
void const_stepped() { sgd_step(head_in_flash, gradient, {}); }
void const_clipped() { clip_grad_norm(head_in_flash, 1.0f); }
// expect: the state of an optimizer is its State of the type of the module, and not const
void state_of_another_shape() { adamw_step(head, gradient, adamw_of_another, {}); }
void state_of_another_optimizer() { adamw_step(head, gradient, momentum, {}); }
void state_of_adamw_in_sgd() { sgd_step(head, gradient, adamw, {}); }
// expect: sgd_step takes (model, gradient, settings), or (model, gradient, state, settings)
void sgd_without_settings() { sgd_step(head, gradient); }
void sgd_of_a_temporary() { sgd_step(Linear<4, 2>{}, gradient, Sgd::Config{}); }
// expect: adamw_step takes (model, gradient, state, settings)
void adamw_without_state() { adamw_step(head, gradient, AdamW::Config{}); }
// expect: a model of yours names its members: using Parts = Parameters<
void parts_not_named() { zero_grad(unnamed); }
