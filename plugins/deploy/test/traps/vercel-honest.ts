/** Claims of deployments that answer a domain at Vercel, in circumstances that are common, and of those that came late. */
import { COMMIT, DEFAULT_DOMAIN, DOMAIN, deploymentOf, NEW, OLD, OLD_COMMIT, OTHER, type Project } from './project.ts'
import {
  DAY,
  HOUR,
  instead,
  LATE,
  LATE_UNTOLD,
  MINUTE,
  project,
  type Row,
  released,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_MAYBE,
  TRUE_UNTOLD,
} from './row.ts'
import { DOWN, RATE_LIMITED, VERCEL_DOWN } from './troubles.ts'
import type { Vercel } from './vercel-api.ts'

const row = rowsOf('vercel')
const params = { deployment: NEW, domain: DOMAIN }
const at = (of: Project, more: Partial<Vercel> = {}) => ({ vercel: { project: of, ...more }, params })
const PREVIEW = deploymentOf('a preview')

const PLAIN: readonly Row[] = [
  row(TRUE, 'by its id', 'the alias of the domain leads to it', () => ({
    ...at(released()),
    facts: { deployment: NEW },
  })),
  row(TRUE, 'by its commit', 'the deployment of the alias was built of it', () => ({
    ...at(released()),
    params: { commit: COMMIT, domain: DOMAIN },
    facts: { commit: COMMIT },
  })),
  row(TRUE, 'by both', 'both are of one deployment', () => ({
    ...at(released()),
    params: { ...params, commit: COMMIT },
  })),
  row(TRUE, 'at the domain that Vercel gives', 'it is a domain of production', () => ({
    ...at(released()),
    params: { deployment: NEW, domain: DEFAULT_DOMAIN },
  })),
  row(TRUE, 'without a domain', 'both domains of production lead to it', () => ({
    ...at(released()),
    params: { deployment: NEW },
  })),
  row(TRUE, 'without a domain, in a project that has one', 'it is the domain of production', () => ({
    ...at(
      project()
        .unassign(-HOUR, DOMAIN)
        .build(-5 * SECOND, NEW)
        .assign(-3 * SECOND, NEW, DEFAULT_DOMAIN),
    ),
    params: { deployment: NEW },
  })),
  row(TRUE_MAYBE, 'without a domain, while one leads to another', 'www redirects to the domain of production', () => ({
    ...at(released().redirect(-HOUR, `www.${DOMAIN}`, DOMAIN)),
    params: { deployment: NEW },
  })),
  row(TRUE_UNTOLD, 'at a name that a wildcard serves', 'an alias of *. answers for names that have none', () => ({
    ...at(released()),
    params: { deployment: NEW, domain: `blog.${DOMAIN}` },
  })),
  row(TRUE, 'promoted without a new build', 'the API points the domains to a staged deployment', () => ({
    ...at(project().build(-HOUR, NEW).assign(-SECOND, NEW)),
  })),
  row(TRUE, 'a preview that was promoted as it is', 'POST /v10/projects/../promote does not build again', () => ({
    ...at(project().build(-HOUR, NEW, { target: null }).assign(-SECOND, NEW)),
  })),
  row(TRUE, 'by a commit that a preview was built of before', 'promotion builds it again for production', () => ({
    ...at(
      project()
        .build(-HOUR, PREVIEW, { target: null })
        .release(-4 * SECOND, NEW),
    ),
    params: { commit: COMMIT, domain: DOMAIN },
  })),
  row(TRUE, 'rolled back to it', 'a rollback points the domains to an older deployment', () => ({
    ...at(released({}, -HOUR).rollBack(-2 * SECOND, NEW, OLD)),
    params: { deployment: OLD, commit: OLD_COMMIT, domain: DOMAIN },
  })),
  row(TRUE, 'assigned by hand', 'vercel alias set points one domain to a deployment', () => ({
    ...at(project().build(-HOUR, NEW, { target: null }).assign(-SECOND, NEW, DOMAIN)),
  })),
  row(TRUE, 'while a newer one is built', 'the domain stays until it is ready', () => ({
    ...at(released().build(0, OTHER, { readyState: 'ERROR' })),
  })),
  row(TRUE, 'beside a newer preview', 'a preview gets no domain of production', () => ({
    ...at(released().build(-SECOND, OTHER, { target: null })),
  })),
  row(TRUE, 'deployed by the command line, by its id', 'its commit is not claimed', () => ({
    ...at(released({ source: 'cli' })),
  })),
  row(
    TRUE,
    'set up for rolling releases, and none is under way',
    'the configuration is a template for those to come',
    () => ({
      ...at(released(), { hasRollingReleases: true }),
    }),
  ),
  row(TRUE, 'after a rolling release that is complete', 'the canary serves all', () => ({
    ...at(
      project()
        .build(-HOUR, NEW)
        .roll(-30 * MINUTE, OLD, NEW, 25)
        .roll(-SECOND, OLD, NEW, 100, 'COMPLETE'),
      { hasRollingReleases: true },
    ),
  })),
  row(TRUE_MAYBE, 'while a rolling release to another began', 'most are served by it, and not all', () => ({
    ...at(
      released()
        .build(-2 * SECOND, OTHER)
        .roll(0, NEW, OTHER, 5),
      { hasRollingReleases: true },
    ),
  })),
  row(TRUE, 'after a rolling release to another was aborted', 'all are served by it again', () => ({
    ...at(
      released({}, -2 * HOUR)
        .build(-HOUR, OTHER)
        .roll(-30 * MINUTE, NEW, OTHER, 5)
        .roll(-MINUTE, NEW, OTHER, 5, 'ABORTED'),
      { hasRollingReleases: true },
    ),
  })),
  row(['in time', 'verified', 'refused'], 'a domain in capitals', 'names of hosts have no case', () => ({
    ...at(released()),
    params: { deployment: NEW, domain: DOMAIN.toUpperCase() },
  })),
  row(['in time', 'verified', 'refused'], 'a commit in capitals', 'hexadecimal digits have no case', () => ({
    ...at(released()),
    params: { commit: COMMIT.toUpperCase(), domain: DOMAIN },
  })),
  row(TRUE, 'in lists that are behind', 'the alias itself tells it', () => ({
    ...at(released(), { listLagMs: HOUR }),
  })),
]

const MOMENTS: readonly Row[] = [
  row(TRUE, 'built for three minutes', 'it came within the tolerance', () => ({
    ...at(
      project()
        .build(-SECOND, NEW)
        .assign(3 * MINUTE, NEW),
    ),
  })),
  row(TRUE, 'rolled back after three minutes', 'it was seen before', () => ({
    ...at(released().rollBack(3 * MINUTE, NEW, OLD)),
  })),
  row(TRUE, 'a rolling release that ends after five minutes', 'it came within the tolerance', () => ({
    ...at(
      project()
        .build(-HOUR, NEW)
        .roll(-MINUTE, OLD, NEW, 25)
        .roll(5 * MINUTE, OLD, NEW, 100, 'COMPLETE'),
      { hasRollingReleases: true },
    ),
  })),
  row(TRUE_MAYBE, 'live for a week already', 'the claim says that it is live', () => ({
    ...at(released({}, -7 * DAY)),
  })),
  row(
    TRUE_MAYBE,
    'submitted after half an hour',
    'updatedAt of the alias says since when it leads there at the latest',
    () => ({ ...at(released()), submittedMs: 30 * MINUTE }),
  ),
  row(TRUE_MAYBE, 'changed otherwise after 20 minutes, submitted then', 'updatedAt moves with other changes', () => ({
    ...at(released().touch(20 * MINUTE, DOMAIN)),
    submittedMs: 30 * MINUTE,
  })),
  ...(
    [
      [RATE_LIMITED, 'too many requests'],
      [VERCEL_DOWN, 'errors of Vercel'],
      [DOWN, 'nothing but errors'],
    ] as const
  ).map(([answer, what]) =>
    row(TRUE, `${what} for three minutes`, 'it answers within the tolerance', () => ({
      ...at(released()),
      instead: instead(answer, { untilMs: 3 * MINUTE }),
    })),
  ),

  // Late ones.
  row(LATE, 'released after twelve minutes', 'the looks before showed the old one', () => ({
    ...at(released({}, 12 * MINUTE)),
  })),
  row(LATE, 'released after twelve minutes, by its commit', 'the looks before showed the old one', () => ({
    ...at(released({}, 12 * MINUTE)),
    params: { commit: COMMIT, domain: DOMAIN },
  })),
  row(LATE, 'ready in time, promoted after twelve minutes', 'ready is not live', () => ({
    ...at(
      project()
        .build(-SECOND, NEW)
        .assign(12 * MINUTE, NEW),
    ),
  })),
  row(LATE, 'a rolling release that ends after 14 minutes', 'until then others were served by the old one', () => ({
    ...at(
      project()
        .build(-HOUR, NEW)
        .roll(0, OLD, NEW, 50)
        .roll(14 * MINUTE, OLD, NEW, 100, 'COMPLETE'),
      { hasRollingReleases: true },
    ),
  })),
  row(
    ['late', 'late', 'unverifiable'],
    'released in time, rolled back, and promoted again after 14 minutes',
    'aliasAssigned is of the first time',
    () => ({
      ...at(
        released({}, -HOUR)
          .rollBack(-MINUTE, NEW, OLD)
          .assign(14 * MINUTE, NEW),
      ),
    }),
  ),
  row(LATE_UNTOLD, 'released after 20 minutes, submitted then', 'nobody looked before', () => ({
    ...at(released({}, 20 * MINUTE)),
    submittedMs: 22 * MINUTE,
  })),
  row(
    LATE_UNTOLD,
    'ready in time, promoted after 20 minutes, submitted then',
    'ready and createdAt are of the build',
    () => ({
      ...at(
        project()
          .build(-SECOND, NEW)
          .assign(20 * MINUTE, NEW),
      ),
      submittedMs: 22 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'rolled back, and promoted again after 20 minutes, submitted then',
    'aliasAssigned is of the first time',
    () => ({
      ...at(
        released({}, -HOUR)
          .rollBack(-MINUTE, NEW, OLD)
          .assign(20 * MINUTE, NEW),
      ),
      submittedMs: 22 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'at a domain that is old, assigned after 20 minutes, submitted then',
    'created of an alias is of its first assignment',
    () => ({
      ...at(
        project()
          .build(-HOUR, NEW)
          .assign(-HOUR, NEW, DEFAULT_DOMAIN)
          .assign(20 * MINUTE, NEW, DOMAIN),
      ),
      submittedMs: 22 * MINUTE,
    }),
  ),
  row(
    LATE_UNTOLD,
    'built again of the commit after 20 minutes, submitted then',
    'the deployment of before was of another commit',
    () => ({
      ...at(released({}, 20 * MINUTE)),
      params: { commit: COMMIT, domain: DOMAIN },
      submittedMs: 22 * MINUTE,
    }),
  ),
]

const COMMITS: readonly Row[] = [
  row(
    TRUE_UNTOLD,
    'deployed by the command line, by its commit',
    'metadata of the command line is what its user writes',
    () => ({
      ...at(released({ source: 'cli', meta: { githubCommitSha: COMMIT, gitDirty: '0' } })),
      params: { commit: COMMIT, domain: DOMAIN },
    }),
  ),
  row(
    TRUE_UNTOLD,
    'deployed by the command line without git, by its commit',
    'vercel 15577: nothing says its commit',
    () => ({
      ...at(released({ source: 'cli' })),
      params: { commit: COMMIT, domain: DOMAIN },
    }),
  ),
  row(
    ['in time', 'unverifiable', 'verified'],
    'at a domain whose alias may not be read',
    'a 403 is no absence, and the deployment is found by its host',
    () => ({ ...at(released(), { hidesAliases: true }), params: { ...params, domain: DOMAIN } }),
  ),
]

export const VERCEL_HONEST: readonly Row[] = [...PLAIN, ...MOMENTS, ...COMMITS]
