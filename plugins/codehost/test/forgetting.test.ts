// Test run: slow
/** The marks of reads that do not show the commit, each at a real git server or at the stand-in for GitHub. Threat A3 of `security.md`. */
import type { Observation } from '@claimcheck/core/plugin'
import t from 'tap'
import { LONG } from '../../../test/support/extent.ts'
import { atGitServer } from './git-fixture.ts'
import { atGitHub, MINUTE, NOON } from './github-fixture.ts'

const INVENTED = 'f'.repeat(40)
const DAY = 24 * 60 * MINUTE
const markOf = async (checking: Promise<Observation>) => (await checking).mark

function seenBefore(facts: { branch_listed: boolean; head?: string }, sentAt = Date.now()) {
  return [{ sentAt, observation: { kind: 'absent', facts } as const }]
}

t.test('at a git server', LONG, async (t) => {
  const { server, repository, base, look, connect } = await atGitServer(t)
  const sha = await repository.commit({ parents: [base] })
  const other = await repository.commit({ parents: [base] })

  t.equal(await markOf(look(INVENTED)), 'never_before', 'a commit that the server does not have')
  t.equal(await markOf(look(INVENTED, { branch: 'missing' })), 'never_before')
  const old = Date.now() - DAY - MINUTE
  t.equal(await markOf(look(INVENTED, { claimedAt: old })), undefined, 'claimed for more than a day ago')
  const connection = connect({ prunes_at_once: true })
  const late = Date.now() - MINUTE
  t.equal(await markOf(look(INVENTED, { connection, claimedAt: late })), undefined, 'it may be pruned')
  t.equal(await markOf(look(sha)), 'may_have_been', 'a commit that no branch has')

  await repository.push('other', other)
  t.equal(await markOf(look(other)), undefined, "another branch's, while the claimed one stands")
  t.equal(await markOf(look(other, { branch: 'missing' })), 'may_have_been', 'the claimed branch is missing')
  const previous = seenBefore({ branch_listed: false })
  t.equal(await markOf(look(other, { previous })), 'may_have_been', 'the claimed branch was missing earlier')

  const ancestor = seenBefore({ branch_listed: true, head: base })
  await repository.push('main', sha)
  t.equal(await markOf(look(other, { previous: ancestor })), undefined, 'the branch went on from its earlier head')
  const rewritten = seenBefore({ branch_listed: true, head: other })
  t.equal(await markOf(look(other, { previous: rewritten })), 'may_have_been', 'the branch was rewritten')

  const plain = { protocolVersion: 0, anyObject: false } as const
  const older = await server.createRepository('acme/older', plain)
  await older.push('main', await older.commit())
  const held = await older.commit()
  for (const id of [held, INVENTED]) {
    const seen = look(id, { target: 'acme/older', claimedAt: late })
    t.equal(await markOf(seen), undefined, 'protocol 0 refuses both alike')
  }
})

t.test('at GitHub, without a log', async (t) => {
  const { github, repository, base, clock, look } = await atGitHub(t)
  repository.answering.logStatus = 404
  const sha = await repository.commit({ parents: [base] })
  const other = await repository.commit({ parents: [base] })
  await repository.hold(sha)
  await repository.push('other', other)

  t.equal(await markOf(look(INVENTED)), 'never_before', 'GitHub does not know it')
  t.equal(await markOf(look(sha)), 'may_have_been', 'GitHub knows it, and no branch has it')
  const previous = seenBefore({ branch_listed: true, head: base }, NOON)
  t.equal(await markOf(look(other, { previous })), undefined, "another branch's, while the claimed one stands")
  t.equal(await markOf(look(other, { branch: 'missing' })), 'may_have_been')
  repository.answering.logStatus = 403
  t.equal(await markOf(look(other, { previous })), 'may_have_been', 'there is a log, and it may not be read')
  repository.answering.logStatus = 404
  const rewritten = seenBefore({ branch_listed: true, head: other })
  t.equal(await markOf(look(other, { previous: rewritten })), 'may_have_been', 'the branch was rewritten')
  const young = await github.createRepository('acme/young', { createdAt: NOON + MINUTE })
  young.answering.logStatus = 404
  await young.push('main', await young.commit())
  t.equal(await markOf(look(INVENTED, { target: 'acme/young' })), 'may_have_been', 'younger than the claim')
  const emptied = await github.createRepository('acme/emptied', { createdAt: NOON - MINUTE })
  emptied.answering.logStatus = 404
  const gone = await emptied.commit()
  await emptied.push('topic', gone)
  await emptied.deleteBranch('topic')
  const seen = look(gone, { target: 'acme/emptied', branch: 'topic' })
  t.equal(await markOf(seen), 'may_have_been', 'a repository without a branch does not tell what it has')
  clock.now = NOON + 8 * DAY
  t.equal(await markOf(look(INVENTED)), undefined, 'claimed for more than seven days ago')
})

t.test('by the log of GitHub', async (t) => {
  const { github, repository, base, clock, push, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.hold(sha)
  t.equal(await markOf(look(sha)), 'never_before', 'the whole log does not have it')
  t.equal(await markOf(look(sha, { branch: 'missing' })), 'never_before', 'a branch that never was')

  const other = await repository.commit({ parents: [base] })
  await push('other', other, NOON)
  t.equal(await markOf(look(other)), 'never_before', "another branch's commit")

  await push('topic', sha, NOON - 3 * MINUTE)
  await push('topic', other, NOON - 2 * MINUTE, { force: true })
  t.equal(await markOf(look(sha, { branch: 'topic' })), undefined, 'forced away a little before the claim')
  await push('lately', sha, NOON - 3 * DAY)
  await push('lately', other, NOON - 2 * DAY, { force: true })
  t.equal(await markOf(look(sha, { branch: 'lately' })), 'never_before', 'forced away long before the claim')

  repository.answering.logLagMs = DAY
  t.equal(await markOf(look(sha)), 'may_have_been', 'the log does not end at the head')
  repository.answering.logLagMs = 0

  const young = await github.createRepository('acme/young', { createdAt: NOON + MINUTE })
  const theirs = await young.commit()
  await young.push('main', await young.commit(), { at: NOON + MINUTE })
  await young.hold(theirs)
  t.equal(await markOf(look(theirs, { target: 'acme/young' })), 'may_have_been', 'younger than the claim')
  clock.now = NOON + 10 * MINUTE
  const slow = await github.createRepository('acme/slow', { createdAt: NOON + MINUTE - 60 * MINUTE })
  slow.answering.clockAheadMs = -60 * MINUTE
  await slow.push('main', await slow.commit())
  t.equal(await markOf(look(INVENTED, { target: 'acme/slow' })), 'may_have_been', 'by a clock that is an hour behind')
})
