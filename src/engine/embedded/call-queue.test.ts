import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CallQueue } from './call-queue.ts'

it('carries out calls in their order, also behind one that failed, until it is closed', async () => {
  const queue = new CallQueue('trainer')
  const done: string[] = []
  const calls = [
    queue.add('one', async () => {
      await new Promise(resolve => setTimeout(resolve, 5))
      done.push('one')
    }),
    queue.add('two', () => Promise.reject(new Error('two is refused'))),
    queue.add('three', () => done.push('three')),
  ]
  const results = await Promise.allSettled(calls)
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(done).toEqual(['one', 'three'])
  await queue.close(async () => {})
  await expect(queue.add('four', () => {})).rejects.toThrow('four: the trainer was disposed of')
})

it('a refusal that nobody looks at ends the program, as everywhere', async () => {
  const program = join(import.meta.dirname, 'fixtures', 'not-awaited.ts')
  const { code, errors } = await new Promise<{ code: unknown; errors: string }>(resolve =>
    execFile(process.execPath, [program], (error, _, errors) => resolve({ code: error?.code ?? 0, errors })),
  )
  expect(code).toBe(1)
  expect(errors).toContain('optimStep: there are no gradients; call forwardBackward first')
})
