import { describe, expect, test } from 'vitest'
import { isPersonalName, withoutPersonalData } from './personal-data.ts'

describe('texts', () => {
  test.each([
    ['a mail address', 'asked alice.smith@lab.example.org about it', 'asked (mail address) about it'],
    ['a home folder', 'data in /home/alice/data and /Users/bob', 'data in ~/data and ~'],
    ['a home folder somewhere', 'ran /export/home/alice/run.py', 'ran ~/run.py'],
    ['a home folder of Windows', String.raw`from C:\Users\alice\runs`, String.raw`from ~\runs`],
    ['a folder on a cluster', '/scratch/alice/tmp', '/scratch/…/tmp'],
    ['a short home', 'see ~alice/notes', 'see ~/notes'],
    ['an address of a machine', 'on 192.168.17.4 port 22', 'on (host) port 22'],
    ['machines', 'node17.cluster.internal and ip-10-0-3-7.ec2', '(host) and (host)'],
    ['a copy from a machine', 'alice@node17:/data/x was lost', '(host):/data/x was lost'],
    ['a login', 'ssh -p 22 alice@node17 first', 'ssh -p 22 (host) first'],
    ['credentials in an address', 'https://alice:secret@files.example.org/x', 'https://files.example.org/x'],
    ['a secret', 'with hf_abcdefghijklmnopqrstuvwx set', 'with (secret) set'],
    ['a named secret', 'API_KEY=abcdef123456 python x', 'API_KEY=… python x'],
    ['a user name', 'username=alice lr=3', 'username=… lr=3'],
  ])('%s', (_, text, expected) => {
    expect(withoutPersonalData(text)).toBe(expected)
  })

  test.each([
    'recall@k and NDCG@10 up, pass@1 down',
    'version 1.2.3 of torch, lr 3e-4, betas 0.9/0.95',
    'see https://example.org/papers/1234.5678',
    'train/loss at 8xH100 80GB, ratio 1:2, a=b',
    'src/importers/home.ts and ~/data',
    'softcap 15 -> 20 (0.9932)',
  ])('nothing personal: %s', text => {
    expect(withoutPersonalData(text)).toBe(text)
  })

  test('a long text full of signs ends: no pattern goes back over it again and again', () => {
    const long = `${'/a'.repeat(20_000)}${'@'.repeat(5000)}${'a.'.repeat(20_000)}${'- a '.repeat(10_000)}`
    expect(withoutPersonalData(long)).toBe(long)
  })
})

test('options that say who, where or how, by their last word', () => {
  const personal = ['user', 'slurm.user', 'hostName', '_wandb/email', 'sys_argv', 'WANDB_API_KEY', 'db.password', 'cwd']
  const plain = ['users', 'max_tokens', 'n_nodes', 'host_count', 'lr', 'args_count', 'optimizer.name']
  expect(personal.filter(name => !isPersonalName(name))).toEqual([])
  expect(plain.filter(isPersonalName)).toEqual([])
})
