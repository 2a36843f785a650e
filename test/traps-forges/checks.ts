/** Traps of `codehost.checks.pass`, at any host. */
import type { CommonTrap } from './common-trap.ts'
import { HOUR, MINUTE } from './times.ts'
import type { ForgeWorld } from './world.ts'

const ACTION = 'checks.pass'

/** The tip of main, and the check `build` that the host's own CI runs, as a claim names it. */
async function ground(world: ForgeWorld) {
  const { slug, repository, base: sha } = await world.repository()
  const { checkName = 'build', runBy } = world.kind
  return { slug, repository, sha, run: repository.checks, named: [{ name: checkName, by: runBy }] }
}

const byHost: CommonTrap['at'] = ({ runsChecks }) => runsChecks

export const checkTraps: readonly CommonTrap[] = [
  {
    name: 'passed, and named',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build' })
      run.run({ sha, name: 'other', outcome: 'failure' })
      const params = { sha: sha.toUpperCase(), checks: named }
      return { ...world.claim(ACTION, slug, params), facts: { passed: 1, failed: 0, missing: 0 } }
    },
  },
  {
    name: 'none named, all passed',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.run({ sha, name: 'build' })
      run.run({ sha, name: 'lint' })
      return { ...world.claim(ACTION, slug, { sha }), facts: { passed: 2 } }
    },
  },
  {
    name: 'none named, one failed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    at: byHost,
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.run({ sha, name: 'build' })
      run.run({ sha, name: 'lint', outcome: 'failure' })
      return { ...world.claim(ACTION, slug, { sha }), facts: { passed: 1, failed: 1 } }
    },
  },
  {
    name: 'none named, and only a status that anybody can post',
    truth: 'unknowable',
    verdict: 'unverifiable/claim_ambiguous',
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.post({ sha, context: 'build', state: 'success' })
      return world.claim(ACTION, slug, { sha })
    },
  },
  {
    name: 'none named, passed, and a posted status failed',
    truth: 'elsewhere',
    verdict: ({ tellsEarlierRuns }) =>
      tellsEarlierRuns ? 'mismatch/content_mismatch' : 'unverifiable/claim_ambiguous',
    forgets: ({ tellsEarlierRuns }) => !tellsEarlierRuns,
    at: byHost,
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.run({ sha, name: 'build' })
      run.post({ sha, context: 'scan', state: 'failure' })
      return world.claim(ACTION, slug, { sha })
    },
  },
  {
    name: 'the agent posts a green status of the same name',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.post({ sha, context: 'build', state: 'success' })
      return { ...world.claim(ACTION, slug, { sha, checks: named }), facts: { missing: 1 } }
    },
  },
  {
    name: 'the named one failed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build', outcome: 'failure' })
      return world.claim(ACTION, slug, { sha, checks: named })
    },
  },
  {
    name: 'skipped is not passed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build', outcome: 'skipped' })
      return { ...world.claim(ACTION, slug, { sha, checks: named }), facts: { skipped: 1 } }
    },
  },
  {
    name: 'cancelled is not passed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build', outcome: 'cancelled' })
      return world.claim(ACTION, slug, { sha, checks: named })
    },
  },
  {
    name: 'it runs until after the deadline',
    truth: 'never',
    verdict: 'failed/not_found',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.start(run.queue({ sha, name: 'build' }))
      return { ...world.claim(ACTION, slug, { sha, checks: named }), facts: { pending: 1 } }
    },
  },
  {
    name: 'it passes while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const id = run.queue({ sha, name: 'build' })
      run.start(id)
      return {
        ...world.claim(ACTION, slug, { sha, checks: named }),
        afterMs: 20 * MINUTE,
        meanwhile: async () => run.end(id, 'success'),
      }
    },
  },
  {
    name: 'it begins only after we looked',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, sha, run } = await ground(world)
      return {
        ...world.claim(ACTION, slug, { sha }),
        afterMs: MINUTE,
        meanwhile: async () => void run.run({ sha, name: 'build' }),
      }
    },
  },
  {
    name: 'it passes too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const id = run.queue({ sha, name: 'build' })
      run.start(id)
      return {
        ...world.claim(ACTION, slug, { sha, checks: named }),
        afterMs: HOUR + 10 * MINUTE,
        meanwhile: async () => run.end(id, 'success'),
      }
    },
  },
  {
    name: 'there is none',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha, named } = await ground(world)
      return { ...world.claim(ACTION, slug, { sha, checks: named }), facts: { missing: 1 } }
    },
  },
  {
    name: 'a commit that is nowhere',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug } = await ground(world)
      return { ...world.claim(ACTION, slug, { sha: 'e'.repeat(40) }), facts: { commit_found: false } }
    },
  },
  {
    name: 'run again before we look, and failed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const first = run.run({ sha, name: 'build', at: world.clock.now() - 10 * MINUTE })
      run.end(run.rerun(first), 'failure')
      return world.claim(ACTION, slug, { sha, checks: named }, 5 * MINUTE)
    },
  },
  {
    name: 'failed, run again, and passed',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const first = run.run({ sha, name: 'build', outcome: 'failure', at: world.clock.now() - 10 * MINUTE })
      run.end(run.rerun(first), 'success')
      return { ...world.claim(ACTION, slug, { sha, checks: named }), facts: { passed: 1, failed: 0 } }
    },
  },
  {
    name: 'run again after we looked, and failed',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const first = run.run({ sha, name: 'build' })
      return {
        ...world.claim(ACTION, slug, { sha, checks: named }),
        afterMs: MINUTE,
        meanwhile: async () => run.end(run.rerun(first), 'failure'),
      }
    },
  },
  {
    name: 'the failed one is on a later page',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    at: byHost,
    async play(world) {
      const { slug, sha, run } = await ground(world)
      const suite = run.suite({ sha })
      run.run({ suite, name: 'first', outcome: 'failure' })
      for (let index = 0; index < 120; index++) run.run({ suite, name: `part ${index}` })
      return { ...world.claim(ACTION, slug, { sha }), facts: { failed: 1, passed: 120 } }
    },
  },
  {
    name: 'a replica that lags',
    truth: 'in_time',
    verdict: 'verified',
    at: byHost,
    async play(world) {
      const { slug, repository, sha, run, named } = await ground(world)
      repository.answering.replicaLagMs = 9000
      run.run({ sha, name: 'build' })
      return world.claim(ACTION, slug, { sha, checks: named })
    },
  },
  {
    name: 'a private repository that the token does not show',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, repository, base: sha } = await world.repository({ isPrivate: true })
      repository.checks.run({ sha, name: 'build' })
      return world.claim(ACTION, slug, { sha })
    },
  },
]
