/** The life of a claim at a scripted destination: a scene says what stands between, when it is claimed, and until when. */
import type { JsonObject, Plugin } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import { type Serving, startServer } from './scripted-server.ts'
import { SECOND, START } from './verifier-table.ts'

/** The part of a row's scene that all scripted destinations have. Moments are milliseconds from the start. */
export interface ScriptedScene extends Pick<Serving, 'instead' | 'rewrite' | 'clockMs'> {
  readonly params: JsonObject
  /** The claim's target; the usual one when left out. */
  readonly target?: string
  /** The options of the connection, where they are not the usual ones. */
  readonly connection?: JsonObject
  readonly lag?: { readonly byMs: number; readonly untilMs: number }
  /** The time at which the agent says that it did it; the start, when left out. */
  readonly claimedMs?: number
  /** A second after the claim, when left out. */
  readonly submittedMs?: number
  /** After the claim, or after a later submission. */
  readonly deadlineMs?: number
  /** Facts that the deciding check must have. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export interface ScriptedClaim {
  readonly plugin: Plugin
  /** The plugin's options, by the address of the destination. */
  readonly pluginOptions?: (url: string) => JsonObject
  readonly connection: { readonly provider: string; readonly options: JsonObject } | null
  readonly action: string
  readonly target: string
  readonly answer: Serving['answer']
}

/** Plays the life of a scene's claim. The result has what was wrong with answers and requests, too. */
export async function playScene(scene: ScriptedScene, claim: ScriptedClaim) {
  const { claimedMs = 0, submittedMs = claimedMs + SECOND, deadlineMs, lag, params } = scene
  const { instead, rewrite, clockMs } = scene
  const { plugin, pluginOptions, connection, action, target, answer } = claim
  const submittedAt = START + submittedMs
  const clock = createVirtualClock(submittedAt)
  const server = await startServer({
    answer,
    now: clock.now,
    instead,
    rewrite,
    clockMs,
    lag: lag && { byMs: lag.byMs, until: START + lag.untilMs },
  })
  try {
    const life = await liveClaim({
      plugin,
      ...(pluginOptions && { options: pluginOptions(server.url) }),
      connection,
      destination: server.url,
      claim: {
        action,
        target,
        params,
        claimedAt: START + claimedMs,
        ...(deadlineMs !== undefined && { deadlineAt: START + Math.max(submittedMs, claimedMs) + deadlineMs }),
      },
      submittedAt,
      clock,
      reach: async () => {},
    })
    return { life, submittedAt, faults: server.faults }
  } finally {
    await server.close()
  }
}
