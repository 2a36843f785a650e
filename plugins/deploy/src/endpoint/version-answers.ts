/** The verifier of `deploy.version.answers`: it asks an endpoint several times, because several programs may answer under one address. */
import { type CheckContext, type Claim, defineVerifier, type Observation } from '@claimcheck/core/plugin'
import { normalAddress, publicOrigin } from './address.ts'
import { authOf, connectionType } from './connection.ts'
import { type Facts, type Params, profile } from './profile.ts'
import { readVersion, type VersionAnswer } from './read.ts'

/** Answers of one look. */
const ANSWERS = 4

export const versionAnswers = defineVerifier({
  profile,
  providers: [connectionType.provider],
  limits: { requests: 3 * ANSWERS },
  anonymousSource({ target }) {
    const baseUrl = publicOrigin(target)
    return baseUrl === undefined ? undefined : { provider: connectionType.provider, baseUrl }
  },
  normalize: ({ target, params }) => ({ target: normalAddress(target), params }),
  async check({ target, params }: Claim<Params>, context) {
    const answers = await context.cache.share(JSON.stringify([target, params.pointer]), () =>
      ask(target, params, context),
    )
    return report(params, answers, context)
  },
})

async function ask(target: string, params: Params, context: CheckContext): Promise<readonly VersionAnswer[]> {
  const answers: VersionAnswer[] = []
  while (answers.length < ANSWERS) answers.push(await readVersion(target, params, context))
  return answers
}

function report(
  { version: claimed }: Params,
  answers: readonly VersionAnswer[],
  context: Pick<CheckContext, 'connection' | 'previous' | 'now'>,
): Observation<Facts> {
  const versions = new Set(answers.map(({ version }) => version))
  const [version] = versions
  // A claimant chooses the path and the pointer: what the owner's header reads there is told to nobody, but for what the claim says.
  const isTold = versions.size === 1 && (authOf(context.connection) === undefined || version === claimed)
  const facts: Facts = { self_reported: true, ...(isTold && version !== undefined && { version }) }
  // Several programs answer, as while a new version comes step by step.
  if (versions.size > 1) return { kind: 'absent', facts, mark: versions.has(claimed) ? 'unsettled' : 'may_have_been' }
  if (version === claimed) {
    if (isTurning(context)) return { kind: 'absent', facts, mark: 'unsettled' }
    return { kind: 'present', differs: [], facts }
  }
  const isDoubtful = !answers.every(({ isShared }) => isShared) || isSameNumber(version, claimed)
  const mark = isDoubtful ? { mark: 'may_have_been' as const } : {}
  if (facts.version === undefined) return { kind: 'absent', facts, ...mark }
  return { kind: 'present', differs: ['version'], facts, ...mark }
}

/** Tells whether a number may have been written as it is claimed: JSON readers take `2.0` and `2` for one number. */
function isSameNumber(version: string | undefined, claimed: string): boolean {
  return version !== undefined && /^[0-9]+$/.test(version) && Number(version) === Number(claimed)
}

/** Milliseconds for which no look may have met several versions, before one that meets a single version counts. */
const QUIET_MS = 60_000

/** Tells whether several versions answered just now: a look that meets one alone may have met one of the programs alone. */
function isTurning({ previous, now }: Pick<CheckContext, 'previous' | 'now'>): boolean {
  return previous.some(({ sentAt, observation: { kind, mark, facts } }) => {
    const isMixed = kind === 'absent' && mark !== undefined && facts.version === undefined
    return isMixed && sentAt > now() - QUIET_MS
  })
}
