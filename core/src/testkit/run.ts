/** What all stages of a run share: the destination, the lanes, and checks whose secrets are looked for in all that they give out. */
import type { KitClock } from './clock.ts'
import type { Memory } from './fault-proxy.ts'
import type { Findings } from './findings.ts'
import type { CheckAsked, Lane, Outcome } from './host.ts'
import type { ConformanceOptions } from './options.ts'
import { findSecret, wholeText } from './secrets.ts'

export interface Run {
  readonly options: ConformanceOptions
  readonly lanes: readonly Lane[]
  readonly clock: KitClock
  readonly memory: Memory
  readonly findings: Findings
  readonly startedAt: number
  /** Brings the destination into a situation, and forgets what it answered before. */
  set(situation: unknown): Promise<unknown>
  check(lane: Lane, asked: CheckAsked): Promise<Outcome>
  /** Whether one of these checks is to be made. */
  wants(...names: readonly string[]): boolean
}

export function wantsOf({ only }: ConformanceOptions): Run['wants'] {
  return (...names) => only === undefined || names.some((name) => only.includes(name))
}

export async function checkAndSearch(lane: Lane, asked: CheckAsked, { tell }: Findings): Promise<Outcome> {
  const outcome = await lane.check(asked)
  searchSecrets(outcome, outcome.observation, { tell })
  return outcome
}

/** @param value what the plugin returned */
export function searchSecrets(
  { error, logs, secrets }: Pick<Outcome, 'error' | 'logs' | 'secrets'>,
  value: unknown,
  { tell }: Pick<Findings, 'tell'>,
): void {
  const given: readonly [name: string, where: string, text: string][] = [
    ['secrets.in-facts', 'what it returns', textOf(value)],
    ['secrets.in-errors', 'what it throws', error === undefined ? '' : wholeText(error)],
    ['secrets.in-logs', 'its log', logs.length === 0 ? '' : wholeText(logs)],
  ]
  for (const [name, where, text] of given) {
    for (const secret of secrets) {
      const form = findSecret(text, secret)
      if (form !== undefined)
        tell(name, `has a secret of the connection ${form} in ${where}, after the destination repeated it`)
    }
  }
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return wholeText(value)
  }
}

/** The same, made for another check of the kit. */
export function at<A extends CheckAsked>(asked: A, check: string, route?: string): A {
  return { ...asked, doing: { ...asked.doing, check, route } }
}

/** Does each task in one of the lanes, several at a time. */
export async function inLanes<T>(
  lanes: readonly Lane[],
  tasks: readonly T[],
  work: (lane: Lane, task: T) => Promise<void>,
): Promise<void> {
  const left = tasks.values()
  await Promise.all(
    lanes.map(async (lane) => {
      for (const task of left) await work(lane, task)
    }),
  )
}
