/**
 * Activations of feed-forward layers, and the soft cap of logits.
 */
import type { Tensor } from '../graph/graph.ts'
import { add, multiply, scale, shift, subtract } from './arithmetic.ts'
import { relu, sigmoid, square, tanh } from './functions.ts'

const geluSlope = Math.sqrt(2 / Math.PI)
const geluCubic = 0.044715

/** GELU in its tanh form (Hendrycks and Gimpel, 2016): a/2 (1 + tanh(sqrt(2/π) (a + 0.044715 a³))). */
export function gelu(a: Tensor): Tensor {
  const squared = square(a)
  const bend = tanh(multiply(a, shift(scale(squared, geluSlope * geluCubic), geluSlope)))
  const gate = shift(scale(bend, 0.5), 0.5)
  return a.graph.composite('gelu', multiply(a, gate), [a], gradient => {
    // (a gate)' = gate + a/2 (1 - tanh²) u', where 1/2 (1 - tanh²) = 2 gate (1 - gate).
    const inner = multiply(a, shift(scale(squared, 6 * geluSlope * geluCubic), 2 * geluSlope))
    const slope = multiply(gate, subtract(shift(inner, 1), multiply(inner, gate)))
    return [multiply(gradient, slope)]
  })
}

/** max(a, 0)² (So et al., 2021). */
export function reluSquared(a: Tensor): Tensor {
  const positive = relu(a)
  return a.graph.composite('reluSquared', square(positive), [a], gradient => [multiply(gradient, scale(positive, 2))])
}

/** SwiGLU (Shazeer, 2020): gate × sigmoid(gate) × up. */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  const openness = sigmoid(gate)
  const silu = multiply(gate, openness)
  return gate.graph.composite('swiglu', multiply(silu, up), [gate, up], gradient => {
    // silu' = s + silu (1 - s), with s the sigmoid.
    const slope = subtract(add(openness, silu), multiply(silu, openness))
    return [multiply(multiply(gradient, up), slope), multiply(gradient, silu)]
  })
}

/** cap × tanh(a / cap): nearly the identity for small values, never beyond the cap. */
export function softCap(a: Tensor, cap: number): Tensor {
  return scale(tanh(scale(a, 1 / cap)), cap)
}
