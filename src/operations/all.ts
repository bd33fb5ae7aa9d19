/** Every operation there is, in the order of the help text. */
import { campaignResume } from './campaign-resume.ts'
import { campaignStart } from './campaign-start.ts'
import { campaignStatus } from './campaign-status.ts'
import type { Operation } from './operation.ts'

export const operations = [campaignStart, campaignResume, campaignStatus] as unknown as readonly Operation[]
