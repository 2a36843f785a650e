/** Anchoring over a real database and a scripted chain, one step at a time, with crashes wherever the test wants them. */
import { join } from 'node:path'
import type { Anchorer } from '@claimcheck/core/plugin'
import { ServiceError } from '@claimcheck/server/base/errors'
import { type Anchoring, createAnchoring } from '@claimcheck/server/features/anchoring/anchoring'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import type { Test } from 'tap'
import { createLog, grow } from '../../server/test/support/grown-log.ts'
import { copyTemplate, createDatabase, type Dialect } from '../support/database.ts'
import { openStorage } from '../support/storage.ts'
import { createScriptedAnchorer, ScriptedChain, type ScriptedOptions } from './scripted-chain.ts'

export { DIALECTS } from '../support/database.ts'
export const NOON = Date.UTC(2026, 8, 25, 12)

export class Crash extends Error {}

interface HostOptions extends ScriptedOptions {
  readonly crashAt?: number
  readonly isReadOnly?: boolean
}

export interface World {
  readonly chain: ScriptedChain
  /** Of a host that never crashes. */
  readonly storage: OpenedStorage
  /** The clock of all hosts. */
  now: number
  grow(leaves: number): Promise<void>
  /** Another host, with the same chain and database. `crashAt`: it ends before its so many-th statement or call. */
  host(options?: HostOptions): Promise<HostOfOne>
}

export interface HostOfOne {
  readonly anchoring: Anchoring
  readonly storage: OpenedStorage
  /** The statements and calls that it has made. */
  readonly made: string[]
  readonly logged: Record<string, unknown>[]
  /** Takes up what is there, and moves it on by a step. */
  step(): Promise<string>
  close(): Promise<void>
}

export async function createWorld(t: Test, dialect: Dialect): Promise<World> {
  const folder = t.testdir()
  const database = await createDatabase(dialect)
  const databaseUrl = database.env.DATABASE_URL ?? `sqlite:${join(folder, 'claimcheck.db')}`
  copyTemplate(databaseUrl)
  const storage = await openStorage({ databaseUrl })
  t.teardown(async () => {
    await storage.close()
    await database.remove()
  })
  await createLog(storage)
  const world: World = {
    chain: new ScriptedChain(join(folder, 'chain.json')),
    storage,
    now: NOON,
    grow: (leaves) => grow(storage, leaves),
    async host({ crashAt = Number.POSITIVE_INFINITY, isReadOnly = false, ...options } = {}) {
      const made: string[] = []
      const logged: Record<string, unknown>[] = []
      let isOpen = false
      const beforeInstruction = (what: string) => {
        if (!isOpen) return
        made.push(what)
        // Whatever it would do from then on, it does not.
        if (made.length >= crashAt) throw new Crash(what)
      }
      const opened = await openStorage({ databaseUrl }, { beforeStatement: beforeInstruction })
      const anchorer = interrupted(createScriptedAnchorer(world.chain, options), beforeInstruction)
      const anchoring = createAnchoring({
        registry: { anchorer },
        storage: opened,
        logGuard: {
          check: async () => {
            if (isReadOnly) throw new ServiceError('read_only', 'as the test wants it')
          },
          maySign: async () => !isReadOnly,
        },
        now: () => world.now,
        logger: {
          info: (fields: object) => logged.push({ level: 'info', ...fields }),
          warn: (fields: object) => logged.push({ level: 'warn', ...fields }),
        } as never,
      })!
      isOpen = true
      const close = async () => {
        isOpen = false
        await opened.close()
      }
      t.teardown(close)
      return {
        anchoring,
        storage: opened,
        made,
        logged,
        close,
        async step() {
          const anchor = await anchoring.take()
          if (!anchor) return 'nothing'
          return (await anchoring.advance(anchor, new AbortController().signal)).outcome
        },
      }
    },
  }
  return world
}

/** Before and after each call: what a call does to the chain may be the last that a host did. */
function interrupted(anchorer: Anchorer, beforeInstruction: (what: string) => void): Anchorer {
  const methods = ['prepare', 'sign', 'send', 'look'] as const
  const wrapped = methods.map((name) => [
    name,
    async (...args: unknown[]) => {
      beforeInstruction(name)
      const result = await (anchorer[name] as (...args: unknown[]) => Promise<unknown>)(...args)
      beforeInstruction(`${name}, done`)
      return result
    },
  ])
  return { ...anchorer, ...Object.fromEntries(wrapped) }
}
