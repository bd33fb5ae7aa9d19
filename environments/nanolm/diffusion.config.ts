import { nanolm } from './environment.ts'

/** Pre-training of a small masked-diffusion language model from the recipe `diffusion.json`. */
export default nanolm('diffusion')
