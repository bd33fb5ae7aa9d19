/**
 * What a version is called for a reader: `reference 2`, counted along the lineage, with the start of its hash.
 */
import type { LineageStep } from './report-data.ts'

export function versionName(lineage: readonly LineageStep[], versionId: string): string {
  const place = lineage.findIndex(({ version }) => version.id === versionId)
  const short = versionId.slice(0, 8)
  return place < 0 ? `reference ${short}` : `reference ${place + 1} (${short})`
}
