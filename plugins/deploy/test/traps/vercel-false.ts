/** Claims of deployments that do not answer a domain at Vercel, and those of which Vercel shows too little. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import {
  COMMIT,
  commitOf,
  DEFAULT_DOMAIN,
  DOMAIN,
  deploymentOf,
  NEW,
  OLD,
  OLD_COMMIT,
  OTHER as OTHER_ONE,
  type Project,
} from './project.ts'
import {
  DAY,
  FAILED_MAYBE,
  HOUR,
  instead,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_MAYBE,
  OTHER_UNTOLD,
  project,
  type Row,
  released,
  rowsOf,
  SECOND,
  TRUE_UNTOLD,
} from './row.ts'
import { DOWN, EMPTY, FILTERED, NO_ROUTE, RATE_LIMITED, SAML, SIGN_IN, VERCEL_DOWN } from './troubles.ts'
import { errorAnswer, type Vercel } from './vercel-api.ts'

const row = rowsOf('vercel')
const params = { deployment: NEW, domain: DOMAIN }
const byCommit = { commit: COMMIT, domain: DOMAIN }
const at = (of: Project, more: Partial<Vercel> = {}) => ({ vercel: { project: of, ...more }, params })
const PREVIEW = deploymentOf('a preview')
const BLOG_DOMAIN = 'blog.acme.example'

const NOT_LIVE: readonly Row[] = [
  row(OTHER, 'ready, and staged', 'READY is not live: no domain leads to it', () => ({
    ...at(project().build(-MINUTE, NEW)),
  })),
  row(OTHER, 'ready, and staged, by its commit', 'READY is not live: no domain leads to it', () => ({
    ...at(project().build(-MINUTE, NEW)),
    params: byCommit,
  })),
  row(OTHER, 'a preview', 'a preview has a host of its own alone', () => ({
    ...at(project().build(-MINUTE, NEW, { target: null })),
  })),
  row(OTHER, 'a preview of the commit', 'a preview has a host of its own alone', () => ({
    ...at(project().build(-MINUTE, NEW, { target: null })),
    params: byCommit,
  })),
  row(
    OTHER,
    'a preview that was built again for production',
    'the domains lead to another deployment of the commit',
    () => ({
      ...at(
        project()
          .build(-HOUR, PREVIEW, { target: null })
          .release(-4 * SECOND, NEW),
      ),
      params: { deployment: PREVIEW, domain: DOMAIN },
    }),
  ),
  row(OTHER, 'a build that failed', 'the domain stays with the old one', () => ({
    ...at(project().build(-MINUTE, NEW, { readyState: 'ERROR' })),
  })),
  row(OTHER, 'a build that was cancelled', 'the domain stays with the old one', () => ({
    ...at(project().build(-MINUTE, NEW, { readyState: 'CANCELED' })),
  })),
  row(OTHER, 'no deployment of this id', 'the domain leads to another', () => ({ ...at(project()) })),
  row(OTHER, 'rolled back an hour ago', 'a rollback points the domains to the old one', () => ({
    ...at(released({}, -2 * HOUR).rollBack(-HOUR, NEW, OLD)),
  })),
  row(OTHER, 'released while a rollback holds the domains', 'after a rollback, new builds are staged', () => ({
    ...at(
      released({}, -2 * HOUR)
        .rollBack(-HOUR, NEW, OLD)
        .build(-MINUTE, OTHER_ONE),
    ),
    params: { deployment: OTHER_ONE, domain: DOMAIN },
  })),
  row(OTHER, 'a newer one took the domains', 'the alias leads to the newer one', () => ({
    ...at(released({}, -2 * HOUR).release(-HOUR, OTHER_ONE, { commit: commitOf('another one') })),
  })),
  row(OTHER, 'at its own host, and not at the domain', 'the claim names the domain', () => ({
    ...at(project().build(-HOUR, NEW).assign(-MINUTE, NEW, `shop-git-main-acme.vercel.app`)),
  })),
  row(OTHER, 'at the domain of Vercel alone', 'the claim names the other domain', () => ({
    ...at(project().build(-HOUR, NEW).assign(-MINUTE, NEW, DEFAULT_DOMAIN)),
  })),
  row(
    OTHER_MAYBE,
    'at one of two domains, and none is named',
    'the other domain of production leads to the old one',
    () => ({
      ...at(project().build(-HOUR, NEW).assign(-MINUTE, NEW, DEFAULT_DOMAIN)),
      params: { deployment: NEW },
    }),
  ),
  ...[1, 50, 99].map((percentage) =>
    row(OTHER_MAYBE, `a rolling release at ${percentage} %`, 'others are served by the old one', () => ({
      ...at(project().build(-HOUR, NEW).roll(-MINUTE, OLD, NEW, percentage), { hasRollingReleases: true }),
    })),
  ),
  row(OTHER_MAYBE, 'a rolling release that was aborted', 'all are served by the old one', () => ({
    ...at(
      project()
        .build(-HOUR, NEW)
        .roll(-30 * MINUTE, OLD, NEW, 50)
        .roll(-MINUTE, OLD, NEW, 50, 'ABORTED'),
      { hasRollingReleases: true },
    ),
  })),
  row(FAILED_MAYBE, 'at a domain of nobody', 'a 404 of the alias, in a project that is readable', () => ({
    ...at(released()),
    params: { deployment: NEW, domain: 'none.acme.example' },
  })),
  row(OTHER_MAYBE, 'at the domain of another project', 'the alias is of that project', () => ({
    ...at(
      released().found(-DAY, 'blog').build(-HOUR, OTHER_ONE, { project: 'blog' }).assign(-HOUR, OTHER_ONE, BLOG_DOMAIN),
    ),
    params: { deployment: NEW, domain: BLOG_DOMAIN },
  })),
  row(OTHER_MAYBE, 'a deployment of another project, at its own domain', 'the claim names a project', () => ({
    ...at(
      released().found(-DAY, 'blog').build(-HOUR, OTHER_ONE, { project: 'blog' }).assign(-HOUR, OTHER_ONE, BLOG_DOMAIN),
    ),
    params: { deployment: OTHER_ONE, domain: BLOG_DOMAIN },
  })),
  row(OTHER_MAYBE, 'a commit that another project serves at its domain', 'the claim names a project', () => ({
    ...at(
      project().found(-DAY, 'blog').build(-HOUR, OTHER_ONE, { project: 'blog' }).assign(-HOUR, OTHER_ONE, BLOG_DOMAIN),
    ),
    params: { commit: COMMIT, domain: BLOG_DOMAIN },
  })),
  row(OTHER_MAYBE, 'the domain was moved to another project', 'the alias is of that project', () => ({
    ...at(
      released({}, -2 * HOUR)
        .found(-DAY, 'blog')
        .build(-HOUR, OTHER_ONE, { project: 'blog' })
        .assign(-HOUR, OTHER_ONE, DOMAIN),
    ),
    params: { deployment: OTHER_ONE, domain: DOMAIN },
  })),
  row(OTHER_MAYBE, 'the domain leads to another domain', 'a redirect serves no deployment', () => ({
    ...at(released().redirect(-HOUR, `www.${DOMAIN}`, 'other.example')),
    params: { deployment: NEW, domain: `www.${DOMAIN}` },
  })),
  row(['never', 'unverifiable', 'failed'], 'a project that is not there', 'a 404 may hide', () => ({
    ...at(released()),
    target: 'vercel:acme/shoq',
  })),
  row(['never', 'unverifiable', 'failed'], 'a project that was removed', 'a 404 may hide', () => ({
    ...at(released({}, -HOUR).dissolve(-MINUTE)),
  })),
  ...(['vercel:acme', 'vercel:acme/../shop', 'vercel:acme/shop/x', 'vercel:/shop'] as const).map((target) =>
    row(['never', 'refused', 'unverifiable', 'failed'], `the target ${target}`, 'it names no project', () => ({
      ...at(released()),
      target,
    })),
  ),
  row(
    ['never', 'unverifiable', 'refused', 'failed'],
    'a project of the same name in another team',
    'the token shows this team',
    () => ({ ...at(released()), target: 'vercel:globex/shop' }),
  ),
  ...(
    [
      { domain: DOMAIN },
      { deployment: '', domain: DOMAIN },
      { deployment: `${NEW}/../x`, domain: DOMAIN },
      { commit: COMMIT.slice(0, 7), domain: DOMAIN },
      { commit: 'main', domain: DOMAIN },
    ] as const
  ).map((given) =>
    row(
      ['never', 'refused', 'unverifiable', 'failed', 'mismatch'],
      `claimed as ${JSON.stringify(given).slice(0, 60)}`,
      'neither an id nor a whole commit',
      () => ({
        ...at(project()),
        params: given,
      }),
    ),
  ),
]

const COMMITS: readonly Row[] = [
  row(
    OTHER,
    'a deployment of another commit',
    'gitSource tells the commit that the host of the repository named',
    () => ({ ...at(released()), params: { commit: commitOf('another one'), domain: DOMAIN } }),
  ),
  row(OTHER, 'the deployment of the domain, and another commit', 'both have to be of one deployment', () => ({
    ...at(released()),
    params: { ...params, commit: OLD_COMMIT },
  })),
  row(OTHER, 'the commit of the domain, and another deployment', 'both have to be of one deployment', () => ({
    ...at(released()),
    params: { deployment: OLD, commit: COMMIT, domain: DOMAIN },
  })),
  row(
    OTHER_UNTOLD,
    'a commit that the command line wrote as metadata',
    'vercel deploy --meta githubCommitSha=...: its user writes what it likes',
    () => ({
      ...at(released({ source: 'cli', meta: { githubCommitSha: COMMIT, githubDeployment: '1' } })),
      params: byCommit,
    }),
  ),
  row(
    OTHER_UNTOLD,
    'a commit with changes that were not committed',
    'gitDirty: what was deployed is no commit',
    () => ({
      ...at(released({ source: 'cli', meta: { githubCommitSha: COMMIT, gitDirty: '1' } })),
      params: byCommit,
    }),
  ),
  row(
    OTHER,
    'a commit in the metadata beside that of the repository',
    'gitSource is of the host, metadata may be of anybody',
    () => ({
      ...at(released({ commit: commitOf('another one'), meta: { gitCommitSha: COMMIT } })),
      params: byCommit,
    }),
  ),
  row(
    OTHER_MAYBE,
    'metadata contradicts the commit of the repository',
    'gitSource is of the host, metadata may be of anybody',
    () => ({
      ...at(released({ commit: commitOf('another one'), meta: { githubCommitSha: COMMIT } })),
      params: byCommit,
    }),
  ),
]

const LOST: readonly Row[] = [
  ...(
    [
      ['rolled back', () => released().rollBack(3 * MINUTE, NEW, OLD)],
      ['replaced by a newer one', () => released().release(3 * MINUTE, OTHER_ONE, { commit: commitOf('another one') })],
      [
        'removed with its domains',
        () =>
          released()
            .unassign(3 * MINUTE, DOMAIN)
            .unassign(3 * MINUTE, DEFAULT_DOMAIN)
            .delete(3 * MINUTE, NEW),
      ],
      ['in a project that was removed', () => released().dissolve(3 * MINUTE)],
      [
        'in a project that was removed and made again',
        () =>
          released()
            .dissolve(3 * MINUTE)
            .found(4 * MINUTE, 'shop', 'prj_shop4712')
            .release(4 * MINUTE, OTHER_ONE, { commit: commitOf('another one') }),
      ],
    ] as const
  ).map(([title, of]) =>
    row(
      ['in time', 'unverifiable', 'verified'],
      `${title} after three minutes, submitted after eight`,
      'it was live in time',
      () => ({ ...at(of()), submittedMs: 8 * MINUTE }),
    ),
  ),
  row(TRUE_UNTOLD, 'rolled back after three minutes, while nobody could look', 'it was live in time', () => ({
    ...at(released().rollBack(3 * MINUTE, NEW, OLD)),
    instead: instead(DOWN, { untilMs: 5 * MINUTE }),
  })),
  row(
    ['in time', 'unverifiable', 'mismatch', 'failed'],
    'rolled back before the first look',
    'what came and went between reads leaves no trace',
    () => ({ ...at(released().rollBack(500, NEW, OLD)) }),
  ),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'staged, submitted after 20 minutes',
    'it may have been live and rolled back',
    () => ({ ...at(project().build(-MINUTE, NEW)), submittedMs: 20 * MINUTE }),
  ),
]

/** Both of what is live and what is not, where Vercel shows neither. */
function hidden(title: string, why: string, vercel: Partial<Vercel>, more: object = {}): readonly Row[] {
  return [
    row(TRUE_UNTOLD, `live, and ${title}`, why, () => ({ ...at(released(), vercel), ...more })),
    row(NOT_DONE, `no such project, and ${title}`, why, () => ({ ...at(project().dissolve(-DAY), vercel), ...more })),
  ]
}

const HIDDEN: readonly Row[] = [
  ...hidden('the token is of another team', 'a 403 is no absence', { teams: [] }),
  ...hidden(
    'the connection names no team',
    'without a team, a request is about the user\u2019s own projects',
    {},
    { connection: { team_id: 'team_other' } },
  ),
  ...hidden(
    'the token is revoked',
    'Vercel answers 403 with invalidToken',
    {},
    { connection: { token: 'vcp_0000abcdefghijklmnopqrst' } },
  ),
  ...(
    [
      [SAML, 'the team asks to sign in again'],
      [DOWN, 'nothing but errors answer'],
      [VERCEL_DOWN, 'errors of Vercel answer'],
      [RATE_LIMITED, 'there are too many requests'],
      [SIGN_IN, 'the page of a proxy answers'],
      [FILTERED, 'a filter finds no page'],
      [NO_ROUTE, 'a gateway leads elsewhere'],
      [EMPTY, 'an empty object answers'],
    ] satisfies readonly (readonly [Answer, string])[]
  ).flatMap(([answer, what]) =>
    hidden(what, 'it tells neither presence nor absence', {}, { instead: instead(answer) }),
  ),
  row(
    TRUE_UNTOLD,
    'live, and aliases are not found for ten minutes',
    'a 404 of a deployment that exists is a fault',
    () => ({
      ...at(released()),
      instead: instead(errorAnswer(404, 'not_found', 'The page could not be found'), { on: /./ }),
    }),
  ),
]

export const VERCEL_FALSE: readonly Row[] = [...NOT_LIVE, ...COMMITS, ...LOST, ...HIDDEN]
