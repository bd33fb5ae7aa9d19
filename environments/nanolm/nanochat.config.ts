import { nanolm } from './environment.ts'

/** Pre-training of a small language model from the recipe `nanochat.json`. */
export default nanolm('nanochat')
