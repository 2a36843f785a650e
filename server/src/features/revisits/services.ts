/** Functions that make the services of revisits, which the host calls on first use. */
import { createFindingLog } from './finding-log.ts'
import { createFindings } from './findings.ts'
import { createRevisitWorker } from './revisit-worker.ts'
import { createRevisits } from './revisits.ts'
import { createRevisitSchedule } from './schedule.ts'

export const services = {
  revisits: createRevisits,
  findings: createFindings,
  findingLog: createFindingLog,
  revisitWorker: createRevisitWorker,
  revisitSchedule: createRevisitSchedule,
}
