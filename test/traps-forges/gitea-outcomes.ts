/** Traps of checks and releases at Gitea and Forgejo: statuses that anybody can post, and dates that authors write. */
import { waysOf } from '../destinations/forge/gitea.ts'
import type { Trap } from '../traps/trap.ts'
import { DAY, HOUR, MINUTE, TOO_LATE } from './times.ts'
import type { ForgeWorld } from './world.ts'

const CHECKS = 'checks.pass'
const RELEASE = 'release.publish'
const BUILD = 'ci.yml / build (push)'

/** The tip of main, and the job `build` that the host's runner ran. */
async function ground(world: ForgeWorld) {
  const { slug, repository, base: sha } = await world.repository()
  return { slug, sha, run: repository.checks, named: [{ name: BUILD, by: world.kind.runBy }] }
}

export const giteaCheckTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'checks.pass: the runner passed it, and that is named',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build' })
      run.run({ sha, name: 'other', outcome: 'failure' })
      return { ...world.claim(CHECKS, slug, { sha, checks: named }), facts: { passed: 1, failed: 0, missing: 0 } }
    },
  },
  {
    name: 'checks.pass: the runner passed it, and none is named',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.run({ sha, name: 'build' })
      return world.claim(CHECKS, slug, { sha })
    },
  },
  {
    name: "checks.pass: the agent posts a green status under the name of the runner's",
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.post({ sha, context: BUILD, state: 'success' })
      return { ...world.claim(CHECKS, slug, { sha, checks: named }), facts: { missing: 1 } }
    },
  },
  {
    name: "checks.pass: an account that took the runner's name posts it",
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.post({ sha, context: BUILD, state: 'success', by: world.kind.runBy })
      return world.claim(CHECKS, slug, { sha, checks: named })
    },
  },
  {
    name: 'checks.pass: the runner failed it, and the agent posts a green status over it',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build', outcome: 'failure' })
      run.post({ sha, context: BUILD, state: 'success' })
      return world.claim(CHECKS, slug, { sha, checks: named })
    },
  },
  {
    name: 'checks.pass: a job that was skipped, which Forgejo calls a success',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build', outcome: 'skipped' })
      return { ...world.claim(CHECKS, slug, { sha, checks: named }), facts: { skipped: 1 } }
    },
  },
  {
    name: 'checks.pass: two workflows of one name, the first of which failed',
    truth: 'elsewhere',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.run({ sha, name: 'build', outcome: 'failure' })
      run.run({ sha, name: 'build' })
      return world.claim(CHECKS, slug, { sha, checks: named })
    },
  },
  {
    name: 'checks.pass: failed, run again, and passed',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const first = run.run({ sha, name: 'build', outcome: 'failure', at: world.clock.now() - 10 * MINUTE })
      run.end(run.rerun(first), 'success')
      return world.claim(CHECKS, slug, { sha, checks: named })
    },
  },
  {
    name: 'checks.pass: passed, run again before we look, and failed',
    truth: 'in_time',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const first = run.run({ sha, name: 'build', at: world.clock.now() - 10 * MINUTE })
      run.end(run.rerun(first), 'failure')
      return world.claim(CHECKS, slug, { sha, checks: named }, 5 * MINUTE)
    },
  },
  {
    name: 'checks.pass: it runs until after the deadline',
    truth: 'never',
    verdict: 'failed/not_found',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      run.start(run.queue({ sha, name: 'build' }))
      return { ...world.claim(CHECKS, slug, { sha, checks: named }), facts: { pending: 1 } }
    },
  },
  {
    name: 'checks.pass: it passes while the claim waits',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const id = run.queue({ sha, name: 'build' })
      const meanwhile = async () => run.end(id, 'success')
      return { ...world.claim(CHECKS, slug, { sha, checks: named }), afterMs: 20 * MINUTE, meanwhile }
    },
  },
  {
    name: 'checks.pass: it passes too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, sha, run, named } = await ground(world)
      const id = run.queue({ sha, name: 'build' })
      const meanwhile = async () => run.end(id, 'success')
      return { ...world.claim(CHECKS, slug, { sha, checks: named }), afterMs: HOUR + 10 * MINUTE, meanwhile }
    },
  },
  {
    name: 'checks.pass: an account posts it, and is named',
    truth: 'in_time',
    verdict: 'verified',
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.post({ sha, context: 'ci', state: 'pending', by: 'Jenkins' })
      run.post({ sha, context: 'ci', state: 'success', by: 'Jenkins' })
      return world.claim(CHECKS, slug, { sha, checks: [{ name: 'ci', by: 'account:jenkins' }] })
    },
  },
  {
    name: 'checks.pass: an account posted it that is gone',
    truth: 'in_time',
    verdict: 'unverifiable/permission_denied',
    forgets: true,
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.post({ sha, context: 'ci', state: 'success', by: 'gone-ci' })
      waysOf(world.standIn).deleted.add('gone-ci')
      return world.claim(CHECKS, slug, { sha, checks: [{ name: 'ci', by: 'account:gone-ci' }] })
    },
  },
  {
    name: 'checks.pass: a branch that is called like the commit leads to one that passed',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const sha = await repository.commit({ parents: [base] })
      await repository.push('main', sha)
      await repository.push(sha, base)
      repository.checks.run({ sha: base, name: 'build' })
      repository.checks.run({ sha, name: 'build', outcome: 'failure' })
      return world.claim(CHECKS, slug, { sha, checks: [{ name: BUILD, by: world.kind.runBy }] })
    },
  },
  {
    name: 'checks.pass: none named, and the failed one is on a later page',
    truth: 'elsewhere',
    verdict: 'mismatch/content_mismatch',
    async play(world) {
      const { slug, sha, run } = await ground(world)
      run.post({ sha, context: 'first', state: 'failure' })
      for (let index = 0; index < 120; index++) run.post({ sha, context: `part ${index}`, state: 'success' })
      return { ...world.claim(CHECKS, slug, { sha }), facts: { failed: 1, passed: 120 } }
    },
  },
]

export const giteaReleaseTraps: readonly Trap<ForgeWorld>[] = [
  {
    name: 'release.publish: late, of a tag that was dated in time, and we look later still',
    truth: 'late',
    verdict: 'unverifiable/claim_ambiguous',
    forgets: true,
    async play(world) {
      const { slug, repository, base } = await world.repository()
      const now = world.clock.now()
      await repository.tag('v1', base, { annotated: true, date: new Date(now - 12 * MINUTE), at: now - DAY })
      await repository.releases.create({ tag: 'v1', releasedAt: now - 12 * MINUTE })
      return { ...world.claim(RELEASE, slug, { tag: 'v1' }, 12 * MINUTE), facts: { published_at: undefined } }
    },
  },
  {
    name: 'release.publish: a draft of before, published too late',
    truth: 'late',
    verdict: 'late/observed_after_tolerance',
    async play(world) {
      const { slug, repository } = await world.repository()
      const id = await repository.releases.create({ tag: 'v1', draft: true })
      const meanwhile = () => repository.releases.publish(id)
      return { ...world.claim(RELEASE, slug, { tag: 'v1' }), afterMs: TOO_LATE, meanwhile }
    },
  },
  {
    name: 'release.publish: of a tag that differs in its case alone',
    truth: 'elsewhere',
    verdict: 'unverifiable/destination_unavailable',
    forgets: true,
    async play(world) {
      const { slug, repository } = await world.repository()
      await repository.releases.create({ tag: 'v1-rc' })
      return world.claim(RELEASE, slug, { tag: 'v1-RC' })
    },
  },
]
