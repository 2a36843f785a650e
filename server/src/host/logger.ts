/** Writes JSON lines to standard error, because commands print their results on standard output. */
import { terminalJson } from '@claimcheck/core/words/terminal'
import { pino } from 'pino'
import type { HostConfig } from '../config/config.ts'
import { createLogLines } from './log-lines.ts'

export function openLogger({ logLevel }: Pick<HostConfig, 'logLevel'>) {
  const { hooks, flush } = createLogLines()
  const logger = pino(
    { level: logLevel, hooks: { ...hooks, streamWrite: terminalJson } },
    pino.destination({ fd: 2, sync: true }),
  )
  return { logger, flush }
}
