import { expect, test } from 'vitest'
import { runVariables } from './run-variables.ts'

const inherit = {
  PATH: '/bin',
  HOME: '/home/a',
  LANG: 'C',
  SECRET: 'x',
  WANDB_API_KEY: 'k',
  CUDA_VISIBLE_DEVICES: '0,1',
}

test('the few that every run needs, the slot, and what is named', () => {
  expect(runVariables({ inherit, pass: [], slot: 3 })).toEqual({
    PATH: '/bin',
    HOME: '/home/a',
    LANG: 'C',
    ALMANAC_SLOT: '3',
  })
  expect(runVariables({ inherit, pass: ['WANDB_API_KEY', 'UNSET'], slot: 0 })).toMatchObject({ WANDB_API_KEY: 'k' })
  expect(runVariables({ inherit, pass: ['UNSET'], slot: 0 })).not.toHaveProperty('UNSET')
})

test('each slot has its device, in turn when there are fewer devices', () => {
  const devices = ['0', '1,2']
  const seen = [0, 1, 2].map(slot => runVariables({ inherit, pass: [], slot, devices })['CUDA_VISIBLE_DEVICES'])
  expect(seen).toEqual(['0', '1,2', '0'])
  expect(runVariables({ inherit, pass: ['CUDA_VISIBLE_DEVICES'], slot: 0, devices: [] })).toMatchObject({
    CUDA_VISIBLE_DEVICES: '0,1',
  })
})
