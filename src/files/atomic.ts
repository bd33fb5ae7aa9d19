/**
 * Files that are there whole or not at all: after a crash, a kill or a full disk, a reader finds the old content or the
 * new, never half. After a power cut too, though the latest change may then be missing. Leaves out locks: two writers of
 * one file both succeed, and the later wins.
 */
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/**
 * Replaces or creates the file. Throws one sentence, and leaves the old content, when the disk is full or the folder
 * not writable.
 */
export function writeAtomically(path: string, text: string): void {
  try {
    withTemporary(path, text, temporary => renameSync(temporary, path))
  } catch (error) {
    throw writeError(path, error)
  }
}

/**
 * Creates the file with its whole content, or returns false because it exists. Of any number of processes that try at
 * once, exactly one gets true: `link` fails on an existing name, where `rename` would replace it.
 */
export function createExclusively(path: string, text: string): boolean {
  try {
    withTemporary(path, text, temporary => linkSync(temporary, path))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw writeError(path, error)
  }
}

function withTemporary(path: string, text: string, publish: (temporary: string) => void): void {
  // Not from node:crypto, whose loading takes a run's wrapper ten milliseconds: the name must be new, not secret.
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  try {
    const descriptor = openSync(temporary, 'wx', statSync(path, { throwIfNoEntry: false })?.mode ?? 0o666)
    try {
      writeFileSync(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    publish(temporary)
  } finally {
    rmSync(temporary, { force: true })
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space and try again',
  EDQUOT: 'the disk quota is used up; free some space and try again',
  EACCES: 'its folder is not writable for this user',
  EPERM: 'the system does not permit it (a protected folder, or a file system without hard links)',
  EFBIG: 'it is larger than the system allows a file to be',
  EROFS: 'the file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'part of its path is a file, not a folder',
  EISDIR: 'a folder of that name is there',
}

function writeError(path: string, error: unknown): Error {
  const reason = reasons[codeOf(error) ?? ''] ?? (error instanceof Error ? error.message : String(error))
  return new Error(`cannot write ${path}: ${reason}; nothing was changed`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
