/** Every operation there is, in the order of the help text. */
import { campaignResume } from './campaign-resume.ts'
import { campaignStart } from './campaign-start.ts'
import { campaignStatus } from './campaign-status.ts'
import { doctor } from './doctor.ts'
import { evaluate } from './evaluate.ts'
import { exportRecords } from './export.ts'
import { forecast } from './forecast.ts'
import { importHistory } from './import.ts'
import { init } from './init.ts'
import type { Operation } from './operation.ts'
import { promote } from './promote.ts'
import { records } from './records.ts'
import { replay } from './replay.ts'
import { report } from './report.ts'
import { run } from './run.ts'

export const operations = [
  init,
  importHistory,
  forecast,
  evaluate,
  replay,
  doctor,
  run,
  promote,
  campaignStart,
  campaignResume,
  campaignStatus,
  records,
  report,
  exportRecords,
] as unknown as readonly Operation[]
