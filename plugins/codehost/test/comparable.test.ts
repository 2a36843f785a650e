/** Which checks a commit still awaits, by what reported on comparable ones. */
import {
  awaitedReports,
  type Candidate,
  type Comparable,
  type ComparableCommit,
  comparableCommits,
  isKnownReporter,
  masked,
  type Report,
  type RunReport,
} from '@claimcheck/plugin-codehost/provider'
import t from 'tap'

const run = (file: string, event = 'push', ref: RunReport['ref'] = 'default'): RunReport => ({ file, event, ref })
const chained = (file: string): RunReport => ({ ...run(file, 'workflow_run'), isChained: true })
const ofPulls = (file: string, event = 'pull_request') => run(file, event, 'pull_request')
const only = (report: RunReport): RunReport => ({ ...report, isOnlyFile: true })
const by = (by: string, name = 'unit') => ({ by, name })
const onMain = (...reports: Report[]): ComparableCommit => ({ refs: ['default'], reports })
const ofPull = (...reports: Report[]): ComparableCommit => ({ refs: ['branch', 'pull_request'], reports })

const NONE: Comparable = { commits: [], begun: [], refs: ['default'], owners: [] }
const SCAN: RunReport = { ...run('scan', 'dynamic'), isLate: true }
const withJobs = (report: RunReport, ...jobs: string[]): RunReport => ({ ...report, jobs })
const FOUND = { by: 'app-id:15368', name: 'Test results', foundsNothing: true }
const CODECOV = by('account-id:9', 'codecov/patch')

interface Row {
  readonly name: string
  readonly told: Partial<Comparable>
  readonly posted?: readonly { readonly by: string; readonly name: string }[]
  readonly awaited: readonly Report[]
  readonly afterTolerance?: readonly Report[]
}

const ROWS: readonly Row[] = [
  {
    name: 'a file that every commit runs has not begun, and neither has any other of the event',
    told: { commits: [onMain(run('ci.yml'))] },
    awaited: [run('ci.yml')],
    afterTolerance: [run('ci.yml')],
  },
  {
    name: 'the host began another file of the event: its paths are filtered',
    told: { commits: [onMain(run('ci.yml'), run('docs.yml'))], begun: [run('docs.yml')] },
    awaited: [],
  },
  {
    name: 'another event began',
    told: { commits: [onMain(run('ci.yml'), run('scan.yml', 'check_suite'))], begun: [run('scan.yml', 'check_suite')] },
    awaited: [run('ci.yml')],
    afterTolerance: [run('ci.yml')],
  },
  {
    name: 'a labeler began, which runs where conflicts or the message stop what a pull request runs',
    told: {
      commits: [ofPull(ofPulls('ci.yml'), ofPulls('label.yml', 'pull_request_target'))],
      ...{ begun: [ofPulls('label.yml', 'pull_request_target')], refs: ['branch', 'pull_request'] },
    },
    awaited: [ofPulls('ci.yml')],
    afterTolerance: [ofPulls('ci.yml')],
  },
  {
    name: 'what a pull request runs began, and its labeler has not: its paths are filtered',
    told: {
      commits: [ofPull(ofPulls('ci.yml'), ofPulls('label.yml', 'pull_request_target'))],
      ...{ begun: [ofPulls('ci.yml')], refs: ['branch', 'pull_request'] },
    },
    awaited: [],
  },
  {
    name: 'a deployment of the default branch, at the head of a pull request',
    told: {
      commits: [onMain(run('deploy.yml')), ofPull(run('ci.yml', 'pull_request', 'pull_request'))],
      ...{ begun: [run('ci.yml', 'pull_request', 'pull_request')], refs: ['branch', 'pull_request'] },
    },
    awaited: [],
  },
  {
    name: 'code scanning began, and the commit asks for no runs, which a commit before had none of',
    told: { commits: [onMain(run('ci.yml'), SCAN), onMain(SCAN)], begun: [SCAN], asksForNone: true },
    awaited: [run('ci.yml')],
    afterTolerance: [run('ci.yml')],
  },
  {
    name: 'the pipeline of a merge request without the jobs of the branch, which all others had, too',
    told: {
      commits: [
        ofPull(withJobs(only(run('ci', 'push', 'branch')), 'test', 'lint'), withJobs(only(ofPulls('ci')), 'danger')),
      ],
      ...{ begun: [withJobs(only(ofPulls('ci')), 'danger')], refs: ['branch', 'pull_request'] },
    },
    awaited: [withJobs(only(run('ci', 'push', 'branch')), 'test', 'lint')],
    afterTolerance: [withJobs(only(run('ci', 'push', 'branch')), 'test', 'lint')],
  },
  {
    name: 'the pipeline of a merge request with the jobs that all of the branch had',
    told: {
      commits: [
        ofPull(withJobs(only(run('ci', 'push', 'branch')), 'test', 'lint'), withJobs(only(ofPulls('ci')), 'test')),
        ofPull(withJobs(only(run('ci', 'push', 'branch')), 'test')),
      ],
      ...{ begun: [withJobs(only(ofPulls('ci')), 'test')], refs: ['branch', 'pull_request'] },
    },
    awaited: [withJobs(only(run('ci', 'push', 'branch')), 'test')],
  },
  {
    name: 'the pipeline of a merge request without one of the jobs that the only one of a branch had',
    told: {
      commits: [
        ofPull(withJobs(only(run('ci', 'push', 'branch')), 'test', 'lint'), withJobs(only(ofPulls('ci')), 'test')),
      ],
      ...{ begun: [withJobs(only(ofPulls('ci')), 'test')], refs: ['branch', 'pull_request'] },
    },
    awaited: [withJobs(only(run('ci', 'push', 'branch')), 'test', 'lint')],
  },
  {
    name: 'a workflow posts what it found, and its paths are filtered',
    told: { commits: [onMain(run('ci.yml'), run('lint.yml'), FOUND)], begun: [run('lint.yml')] },
    awaited: [],
  },
  {
    name: 'a workflow posts what it found, and all of them began',
    told: { commits: [onMain(run('ci.yml'), run('lint.yml'), FOUND)], begun: [run('lint.yml'), run('ci.yml')] },
    awaited: [FOUND],
  },
  {
    name: 'a workflow posts what it found, also where the filtered one did not run',
    told: {
      commits: [onMain(run('ci.yml'), run('lint.yml'), FOUND), onMain(run('lint.yml'), FOUND)],
      begun: [run('lint.yml')],
    },
    awaited: [FOUND],
  },
  {
    name: 'a tag of which nothing began, where tags like it run a release',
    told: { commits: [onMain(run('ci.yml'))], begun: [run('ci.yml')], ofTags: [run('release.yml', 'push', 'tag')] },
    awaited: [run('release.yml', 'push', 'tag')],
  },
  {
    name: 'a release that tags run',
    told: { commits: [onMain(run('ci.yml'), run('release.yml', 'push', 'tag'))], begun: [run('ci.yml')] },
    awaited: [],
  },
  {
    name: 'a branch whose kind no comparable commit has, on which nothing has begun',
    told: { commits: [onMain(run('ci.yml'))], refs: ['branch'] },
    awaited: [run('ci.yml')],
    afterTolerance: [run('ci.yml')],
  },
  {
    name: 'a branch whose kind no comparable commit has, on which something has begun',
    told: { commits: [onMain(run('ci.yml'))], refs: ['branch'], begun: [run('lint.yml', 'push', 'branch')] },
    awaited: [],
  },
  {
    name: 'the end of another run starts it: awaited until the tolerance ends',
    told: {
      commits: [onMain(run('ci.yml'), chained('e2e.yml'))],
      begun: [run('ci.yml'), run('x.yml', 'workflow_run')],
    },
    awaited: [chained('e2e.yml')],
  },
  {
    name: 'the end of a run of another commit started one here, as on a commit before for which nothing ran',
    told: {
      commits: [onMain(run('ci.yml')), onMain(chained('comment.yml'))],
      begun: [chained('comment.yml')],
    },
    awaited: [run('ci.yml')],
    afterTolerance: [run('ci.yml')],
  },
  {
    name: 'code scanning began, and what paths filter has not, as on a commit before',
    told: { commits: [onMain(run('ci.yml'), SCAN), onMain(SCAN)], begun: [SCAN] },
    awaited: [run('ci.yml')],
  },
  {
    name: 'an app that reports on comparable commits: awaited until the tolerance ends',
    told: { commits: [onMain(run('ci.yml'), by('app-id:7'))], begun: [run('ci.yml')] },
    awaited: [by('app-id:7')],
  },
  {
    name: 'the second context of an account',
    told: { commits: [onMain(CODECOV, by('account-id:9', 'codecov/project'))] },
    posted: [CODECOV],
    awaited: [by('account-id:9', 'codecov/project')],
  },
  {
    name: 'another number in the name',
    told: { commits: [onMain(by('account-id:9', 'preview-1234'))] },
    posted: [by('account-id:9', 'preview-1299')],
    awaited: [],
  },
  {
    name: 'one of two parts of a matrix',
    told: { commits: [onMain(by('app-id:7', 'test (18)'), by('app-id:7', 'test (20)')), onMain(by('app-id:8'))] },
    posted: [by('app-id:7', 'test (20)'), by('app-id:8')],
    awaited: [by('app-id:7', 'test (20)')],
  },
  {
    name: 'a person who once posted a status',
    told: {
      commits: [onMain(by('account-id:5')), onMain(run('ci.yml')), onMain(run('ci.yml'))],
      begun: [run('ci.yml')],
    },
    awaited: [],
  },
  {
    name: 'an account that posted on one of two: too few to tell',
    told: { commits: [onMain(by('account-id:5')), onMain(run('ci.yml'))], begun: [run('ci.yml')] },
    awaited: [by('account-id:5')],
  },
  {
    name: 'an app on one of many',
    told: { commits: [onMain(by('app-id:5')), onMain(run('ci.yml')), onMain(run('ci.yml'))], begun: [run('ci.yml')] },
    awaited: [by('app-id:5')],
  },
  ...([run('all.yml', 'push', 'tag'), run('all.yml', 'merge_request', 'pull_request')] as const).map(
    (begun): Row => ({
      name: `the one file of the host, which ran for a ${begun.ref} alone`,
      told: { commits: [onMain(only(run('all.yml')))], begun: [only(begun)], refs: ['default', begun.ref] },
      awaited: [only(run('all.yml'))],
      afterTolerance: [only(run('all.yml'))],
    }),
  ),
  {
    name: 'the one file of the host, which ran for a pull request, and no more for its branch',
    told: {
      commits: [ofPull(only(run('all.yml', 'push', 'branch')), only(ofPulls('all.yml')))],
      ...{ begun: [only(ofPulls('all.yml'))], refs: ['branch', 'pull_request'] },
    },
    awaited: [only(run('all.yml', 'push', 'branch'))],
  },
  { name: 'nothing is comparable', told: {}, awaited: [] },
]

for (const { name, told, posted = [], awaited, afterTolerance = [] } of ROWS) {
  t.test(name, async (t) => {
    t.strictSame(awaitedReports({ ...NONE, ...told }, posted, true), awaited)
    t.strictSame(awaitedReports({ ...NONE, ...told }, posted, false), afterTolerance, 'after the tolerance')
  })
}

t.test('a reporter that founds a green', async (t) => {
  const commits = [onMain(CODECOV), onMain(CODECOV, by('account-id:5')), onMain(run('ci.yml'))]
  const known = (by: string[], owners: string[] = []) => isKnownReporter({ by }, { ...NONE, commits, owners })
  t.equal(known(['account-id:9', 'account:codecov']), true)
  t.equal(known(['account-id:9', 'account:codecov'], ['account:Codecov']), false, 'the account that pushed the commit')
  t.equal(known(['account-id:5']), false, 'on one commit of three')
  t.equal(known(['account-id:6']), false, 'on none')
})

t.test('names without their numbers and ids', async (t) => {
  t.equal(masked('build (18)'), 'build (#)')
  t.equal(masked('deploy 3f2a9bc41d'), 'deploy #')
  t.equal(masked('job 0b0f7a3e-58cc-4372-a567-0e02b2c3d479'), 'job #')
  t.equal(masked('facade defaced'), 'facade defaced')
})

t.test('the newest commits with something reported, of others first', async (t) => {
  const candidate = (sha: string, owner: string): Candidate => ({ sha, refs: ['default'], owners: [owner] })
  const all = [
    candidate('a', 'account:Me'),
    candidate('b', 'account:her'),
    candidate('c', 'account:me'),
    candidate('d', 'account:him'),
  ]
  const read: string[] = []
  const reports: Readonly<Record<string, Report[]>> = {
    ...{ a: [run('ci.yml')], b: [], c: [by('account:me')], d: [run('ci.yml'), by('account:me')] },
  }
  const found = await comparableCommits(all, { owners: ['account:me'], most: 2 }, async ({ sha }) => {
    read.push(sha)
    return reports[sha]!
  })
  t.strictSame(read, ['b', 'd', 'a'])
  t.strictSame(
    found,
    [onMain(run('ci.yml'), by('account:me')), onMain(run('ci.yml'))],
    'none with what the claimant posted alone',
  )
  t.strictSame(await comparableCommits(all, { owners: [], mostRead: 1 }, async () => []), [])
})
