/**
 * A new file that is on the disk when this returns, for folders that appear whole (new-folder.ts).
 */
import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'

export function writeThrough(path: string, content: string | Uint8Array): void {
  const descriptor = openSync(path, 'wx')
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
