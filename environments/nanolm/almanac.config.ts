import { nanolm } from './environment.ts'

/** Pre-training of a small language model from the recipe `olmo.json`. */
export default nanolm('olmo')
