/** Claims of Jira issues: categories that are no names, keys that change, histories of Cloud and Data Center, and answers to anybody. */
import { START } from '../../../../test/traps/verifier-table.ts'
import { AGENT, CENTER_AGENT, CENTER_HOST, CLOUD_HOST, NO_ISSUE, PERSON } from './jira-api.ts'
import {
  begunTracker,
  DAY,
  emptyTracker,
  FAILED,
  FAILED_LATER,
  HOUR,
  instead,
  LATE,
  MEANINGLESS,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_UNTOLD,
  type Row,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_OR_UNTOLD,
  TRUE_UNTOLD,
  UNTOLD,
  WORDS,
} from './row.ts'

const { todo, progress, review, done, closed } = WORDS.jira
/** A status that is called Closed, in the category of work that goes on. */
const CALLED_CLOSED = '10003'
const WONT_DO = '10004'
const UNCATEGORIZED = '10005'
const params = { category: 'done' }
const exact = { category: 'done', status: done, from: progress }
const later = { submittedMs: 41 * MINUTE }

/** The parts that Cloud and Data Center share. */
function rowsAt(provider: 'jira' | 'data center'): readonly Row[] {
  const row = rowsOf(provider)
  const begun = () => begunTracker(provider)
  const finished = () => begun().move(0, done)
  const { agent, person } = WORDS[provider]
  const host = provider === 'jira' ? CLOUD_HOST : CENTER_HOST

  const categories: readonly Row[] = [
    row(OTHER, 'taken to a status that is called Closed, and goes on', 'a category is no name', () => ({
      tracker: begun().move(0, CALLED_CLOSED),
      params,
    })),
    row(TRUE, 'taken to a status that is called Closed, in progress claimed', 'its category is indeterminate', () => ({
      tracker: emptyTracker(provider)
        .make(-2 * DAY)
        .move(0, CALLED_CLOSED),
      params: { category: 'in_progress', status: CALLED_CLOSED },
    })),
    row(TRUE, 'begun', 'its category is indeterminate', () => ({
      tracker: emptyTracker(provider)
        .make(-2 * DAY)
        .move(0, progress),
      params: { category: 'in_progress' },
      facts: { category: 'in_progress', status: progress },
    })),
    row(TRUE, 'begun, and done after a minute, submitted later', 'the history passes through it', () => ({
      tracker: emptyTracker(provider)
        .make(-2 * DAY)
        .move(0, progress)
        .move(MINUTE, done),
      params: { category: 'in_progress' },
      ...later,
    })),
    row(TRUE, 'taken back to what is to do', 'its category is new', () => ({
      tracker: begun().move(0, todo),
      params: { category: 'open', by: agent },
    })),
    row(TRUE, 'given up, done claimed', 'a status of giving up is in the category done', () => ({
      tracker: begun().move(0, WONT_DO),
      params,
    })),
    row(MEANINGLESS, 'canceled claimed', 'Jira has no such category', () => ({
      tracker: begun().move(0, WONT_DO),
      params: { category: 'canceled' },
    })),
    row(TRUE, 'taken to a status without a category, the status claimed', 'the history names the status', () => ({
      tracker: begun().move(0, UNCATEGORIZED),
      params: { status: UNCATEGORIZED },
    })),
    row(
      ['other', 'mismatch', 'failed', 'unverifiable'],
      'taken to a status without a category, done claimed',
      'the category `undefined` is none of those that are claimed',
      () => ({ tracker: begun().move(0, UNCATEGORIZED), params }),
    ),
    row(TRUE, 'from one status in progress to another, the second claimed', 'the status is claimed', () => ({
      tracker: begun().move(0, review),
      params: { category: 'in_progress', status: review, from: progress },
    })),
    row(TRUE_OR_UNTOLD, 'passed through a status that lists no longer have, the status claimed', 'ids stay', () => ({
      tracker: begun()
        .move(0, closed)
        .move(MINUTE, done)
        .unlist(2 * MINUTE, closed),
      params: { status: closed },
      ...later,
    })),
    row(
      TRUE_OR_UNTOLD,
      'passed through a status that lists no longer have, its category claimed',
      'it is not listed',
      () => ({
        tracker: begun()
          .move(0, closed)
          .move(MINUTE, progress)
          .unlist(2 * MINUTE, closed),
        params,
        ...later,
      }),
    ),
    row(
      ['other', 'unverifiable', 'failed', 'mismatch'],
      'passed through a status in progress that lists no longer have, done claimed',
      'the category of a status that is not listed is unknown',
      () => ({
        tracker: begun()
          .move(0, CALLED_CLOSED)
          .move(MINUTE, progress)
          .unlist(2 * MINUTE, CALLED_CLOSED),
        params,
        ...later,
      }),
    ),
    row(
      ['unknowable', 'unverifiable', 'failed', 'mismatch'],
      'taken to review, which is made a done status after three minutes',
      'an administrator edited the category, and nobody moved the issue',
      () => ({
        tracker: begun()
          .move(0, review)
          .redefine(3 * MINUTE, review, { category: 'done' }),
        params,
      }),
    ),
    row(TRUE, 'done, in a status whose category is edited after three minutes', 'looks saw the one before', () => ({
      tracker: finished().redefine(3 * MINUTE, done, { category: 'indeterminate' }),
      params,
    })),
    row(TRUE, 'done, in a status whose category is edited, the status claimed later', 'ids stay', () => ({
      tracker: finished().redefine(3 * MINUTE, done, { category: 'indeterminate' }),
      params: { status: done },
      ...later,
    })),
  ]

  const histories: readonly Row[] = [
    row(
      OTHER,
      'a field of the users is called status, and the status is another',
      'only the system field counts',
      () => ({
        tracker: begun().move(0, review, { beside: [{ field: 'custom', from: progress, to: done }] }),
        params: exact,
      }),
    ),
    row(FAILED, 'resolved in time, and not moved', 'resolutiondate is no transition', () => ({
      tracker: begun().resolve(0),
      params: { status: done },
    })),
    row(LATE, 'resolved in time, and moved after forty minutes', 'resolutiondate is no transition', () => ({
      tracker: begun()
        .resolve(0)
        .move(40 * MINUTE, done),
      params,
      ...later,
    })),
    row(TRUE, 'a history of seven hundred entries', 'it is read to its end', () => ({
      tracker: begun().edit(-HOUR, 700, { by: person }).move(0, done),
      params: exact,
    })),
    row(TRUE_OR_UNTOLD, 'a history of twelve hundred entries', 'it may be too long to be read', () => ({
      tracker: begun().edit(-HOUR, 1200, { by: person }).move(0, done),
      params: exact,
    })),
    row(FAILED_LATER, 'a history of seven hundred entries, none of them claimed', 'it is read to its end', () => ({
      tracker: begun().edit(-HOUR, 700, { by: person }),
      params: exact,
    })),
    ...([330, -480, 765] as const).flatMap((zone) => [
      row(TRUE, `times in the zone of the account, ${zone} minutes off`, 'a time has its offset', () => ({
        tracker: finished(),
        params: exact,
        jira: { zone },
        facts: { changed_at: new Date(START).toISOString() },
        ...later,
      })),
      row(LATE, `done after forty minutes, in a zone ${zone} minutes off`, 'a time has its offset', () => ({
        tracker: begun().move(40 * MINUTE, done),
        params,
        jira: { zone },
        ...later,
      })),
    ]),
  ]

  const keys: readonly Row[] = [
    row(TRUE, 'done, and taken to another project', 'the old key leads to the same issue', () => ({
      tracker: finished().transfer(MINUTE, 'OPS-7', { by: person }),
      params: exact,
    })),
    row(TRUE_OR_UNTOLD, 'done, and taken to another project before the first look', 'Key is in the history', () => ({
      tracker: finished().transfer(SECOND / 2, 'OPS-7', { by: person }),
      params: exact,
      facts: { key: 'OPS-7' },
    })),
    row(TRUE_OR_UNTOLD, 'done, and taken to another project, submitted later', 'Key is in the history', () => ({
      tracker: finished().transfer(MINUTE, 'OPS-7', { by: person }),
      params: exact,
      facts: { key: 'OPS-7' },
      ...later,
    })),
    row(TRUE_OR_UNTOLD, 'taken to another project and to done in one step', 'a move may map statuses', () => ({
      tracker: begun().transfer(0, 'OPS-7', { status: done }),
      params,
    })),
    row(
      ['never', 'failed', 'unverifiable'],
      'taken to another project, and never done',
      'a move alone is no transition',
      () => ({
        tracker: begun().transfer(0, 'OPS-7'),
        params,
      }),
    ),
    row(
      TRUE_UNTOLD,
      'done, in a project that the account may not browse since',
      'what is missing may be hidden',
      () => ({
        tracker: begun().transfer(-MINUTE, 'SEC-7').move(0, done),
        params,
      }),
    ),
    row(UNTOLD, 'taken to a project that the account may not browse, and never done', 'it may be hidden', () => ({
      tracker: begun().transfer(-MINUTE, 'SEC-7'),
      params,
    })),
    row(TRUE_OR_UNTOLD, 'done, in a project that has another key since', 'a renamed project leads on', () => ({
      tracker: finished().rename(MINUTE, 'ENG', 'CORE'),
      params: exact,
      ...later,
    })),
    row(
      ['other', 'unverifiable', 'mismatch', 'failed'],
      'deleted, and made again under its key as another, which is done',
      'another issue has another id',
      () => ({
        tracker: begun()
          .remove(2 * MINUTE)
          .make(3 * MINUTE)
          .move(4 * MINUTE, done),
        params,
      }),
    ),
    row(
      ['in time', 'verified', 'refused', 'unverifiable'],
      'its key in lower case',
      'Jira takes keys in any case',
      () => ({
        tracker: finished(),
        params,
        target: `jira:${host}/eng-1`,
      }),
    ),
    row(['in time', 'verified', 'refused', 'unverifiable'], 'its host in upper case', 'hosts have no case', () => ({
      tracker: finished(),
      params,
      target: `jira:${host.replace(/^[^/]+/, (name) => name.toUpperCase())}/ENG-1`,
    })),
    row(['in time', 'refused', 'unverifiable', 'verified'], 'its id for its key', 'an id is no key', () => ({
      tracker: finished(),
      params,
      target: `jira:${host}/12001`,
    })),
    row(TRUE, 'a base address with a slash at its end', 'it is the same', () => ({
      tracker: finished(),
      params,
      connection: { base_url: `https://${host}/` },
    })),
  ]

  const hidden: readonly Row[] = [
    row(TRUE_UNTOLD, 'done, below a security level that the account lacks', 'its project can be browsed', () => ({
      tracker: emptyTracker(provider)
        .make(-2 * DAY)
        .mark(-2 * DAY, { isHidden: true })
        .move(0, done),
      params,
    })),
    row(UNTOLD, 'never there, in a project that can be browsed', 'security levels may hide single issues', () => ({
      tracker: emptyTracker(provider).make(-2 * DAY, { key: 'ENG-2' }),
      params,
    })),
    row(UNTOLD, 'never there, in a project that there is not', 'projects are hidden, too', () => ({
      tracker: begun(),
      params,
      target: `jira:${host}/NOPE-1`,
    })),
    row(TRUE, 'below a security level for two minutes', 'it is shown then, with its history', () => ({
      tracker: begun()
        .mark(-HOUR, { isHidden: true })
        .move(0, done)
        .mark(2 * MINUTE, { isHidden: false }),
      params: exact,
    })),
    row(TRUE_UNTOLD, 'done, and the account may browse nothing', 'what is missing may be hidden', () => ({
      tracker: finished(),
      params,
      jira: { browses: [] },
    })),
    row(UNTOLD, 'never done, and the account may browse nothing', 'what is missing may be hidden', () => ({
      tracker: begun(),
      params,
      jira: { browses: [] },
    })),
    row(TRUE_UNTOLD, 'done, and a captcha is asked for', 'a refusal tells nothing', () => ({
      tracker: finished(),
      params,
      jira: { refuses: 'with a captcha', authorization: 'Basic of another' },
    })),
    row(TRUE, 'a project that anybody may browse', 'the account may, too', () => ({
      tracker: finished(),
      params: exact,
      jira: { isPublic: true },
    })),
  ]
  return [...categories, ...histories, ...keys, ...hidden]
}

const row = rowsOf('jira')
const begun = () => begunTracker('jira')
const finished = () => begun().move(0, done)

const CLOUD: readonly Row[] = [
  row(TRUE, 'pages of fifty entries', 'a server may give fewer than it is asked for', () => ({
    tracker: begun().edit(-HOUR, 120, { by: PERSON }).move(0, done).edit(MINUTE, 60, { by: PERSON }),
    params: exact,
    jira: { pageSize: 50 },
    ...later,
  })),
  row(
    FAILED_LATER,
    'pages of fifty entries, none of them claimed',
    'a server may give fewer than it is asked for',
    () => ({
      tracker: begun().edit(-HOUR, 180, { by: PERSON }),
      params: exact,
      jira: { pageSize: 50 },
    }),
  ),
  row(
    TRUE_UNTOLD,
    'done and begun again, and pages without the entries of a long history',
    'the issue tells of more',
    () => ({
      tracker: begun().edit(-HOUR, 150, { by: PERSON }).move(0, done).move(MINUTE, progress),
      params,
      instead: instead(
        { status: 200, body: { startAt: 0, maxResults: 100, total: 0, isLast: true, values: [] } },
        { on: /\/changelog\?/ },
      ),
      ...later,
    }),
  ),
  row(TRUE, 'done by an automation, its account claimed', 'an app has an account as any other', () => ({
    tracker: finished(),
    params: { ...exact, by: AGENT },
    facts: { by: AGENT },
  })),
  row(OTHER, 'done by an automation, a person claimed', 'the account is another', () => ({
    tracker: finished(),
    params: { ...exact, by: PERSON },
  })),
  row(TRUE_UNTOLD, 'done by an account of which only `unknown` is left', 'a corrupted record names nobody', () => ({
    tracker: finished(),
    params: { ...exact, by: AGENT },
    jira: { author: { accountId: 'unknown' } },
  })),
  row(OTHER_UNTOLD, 'done by an account of which only `unknown` is left, a person claimed', 'it names nobody', () => ({
    tracker: finished(),
    params: { ...exact, by: PERSON },
    jira: { author: { accountId: 'unknown' } },
  })),
  row(TRUE, 'done by an account that is not active any more', 'its id stays', () => ({
    tracker: finished(),
    params: { ...exact, by: AGENT },
    jira: { author: { active: false, displayName: 'Former user' } },
  })),
  row(TRUE_UNTOLD, 'done, and the token has ended, with 401', 'refused credentials see nothing', () => ({
    tracker: finished(),
    params,
    jira: { refuses: 'with 401' },
    connection: { api_token: 'ATATT3xFfGF0zzzzzzzzzzzz' },
  })),
  row(TRUE_OR_UNTOLD, 'done where anybody may browse, and the token has ended', 'anybody is shown the same', () => ({
    tracker: finished(),
    params,
    jira: { isPublic: true },
    connection: { api_token: 'ATATT3xFfGF0zzzzzzzzzzzz' },
  })),
  row(NOT_DONE, 'never done where anybody may browse, and the token has ended', 'anybody is shown the same', () => ({
    tracker: begun(),
    params,
    jira: { isPublic: true },
    connection: { api_token: 'ATATT3xFfGF0zzzzzzzzzzzz' },
  })),
  row(UNTOLD, 'missing where anybody may browse, and the token has ended', 'the account might see more', () => ({
    tracker: emptyTracker('jira').make(-DAY, { key: 'ENG-2' }),
    params,
    jira: { isPublic: true },
    connection: { api_token: 'ATATT3xFfGF0zzzzzzzzzzzz' },
  })),
  row(
    TRUE,
    'done at a site that was migrated, with a history of years',
    'old entries are over, and the new one is not',
    () => ({
      tracker: emptyTracker('jira')
        .make(-400 * DAY, { dated: START - 900 * DAY })
        .move(-399 * DAY, progress, { by: PERSON })
        .move(-398 * DAY, done, { by: PERSON })
        .move(-300 * DAY, progress, { by: PERSON })
        .move(0, done),
      params: exact,
    }),
  ),
  row(
    NOT_DONE,
    'imported as done with an old date, everything claimed',
    'an import writes `created` as it likes, and no transition',
    () => ({
      tracker: emptyTracker('jira').make(0, { status: done, dated: START - 30 * DAY }),
      params: exact,
    }),
  ),
  row(TRUE, 'a site that is about to move, with the issue missing for a minute', 'a migration ends', () => ({
    tracker: finished(),
    params: exact,
    instead: instead(
      { status: 404, body: { errorMessages: [NO_ISSUE], errors: {} } },
      { fromMs: 0, untilMs: MINUTE, on: /issue/ },
    ),
  })),
  row(TRUE_UNTOLD, 'a site that is gone', 'a page of Atlassian is no answer', () => ({
    tracker: finished(),
    params,
    instead: instead({
      status: 404,
      body: '<html><title>Your Atlassian Cloud site is currently unavailable.</title></html>',
    }),
  })),
  row(TRUE_UNTOLD, 'done, and an issue whose fields are left out', 'an issue without a status says nothing', () => ({
    tracker: finished(),
    params,
    instead: instead({
      status: 200,
      body: { id: '12001', key: 'ENG-1', self: 'https://acme.atlassian.net/', fields: {} },
    }),
  })),
]

const center = rowsOf('data center')
const beginning = () => begunTracker('data center')

const CENTER: readonly Row[] = [
  center(TRUE, 'done by the account with that key', 'Data Center has keys of users', () => ({
    tracker: beginning().move(0, done),
    params: { ...exact, by: CENTER_AGENT },
    facts: { by: CENTER_AGENT },
  })),
  center(
    ['in time', 'unverifiable', 'refused', 'verified', 'mismatch', 'failed'],
    'the name of the user claimed, and not the key',
    'names of users change',
    () => ({ tracker: beginning().move(0, done), params: { ...exact, by: 'agent' } }),
  ),
  center(OTHER, 'done by a user whose name begins alike', 'keys are compared whole', () => ({
    tracker: beginning().move(0, done),
    params: { ...exact, by: 'JIRAUSER1020' },
  })),
  center(TRUE, 'a history of two hundred entries in one answer', 'Data Center has no pages of it', () => ({
    tracker: beginning()
      .edit(-HOUR, 100)
      .move(0, done)
      .move(MINUTE, progress)
      .edit(2 * MINUTE, 100),
    params: exact,
    ...later,
  })),
  center(LATE, 'done late, in a history that is oldest first', 'Cloud has the newest first there', () => ({
    tracker: emptyTracker('data center')
      .make(-2 * DAY)
      .move(-DAY, done)
      .move(-5 * HOUR, progress)
      .move(40 * MINUTE, done)
      .move(40 * MINUTE + 10 * SECOND, review)
      .move(40 * MINUTE + 20 * SECOND, done),
    params,
    ...later,
  })),
  center(TRUE_UNTOLD, 'a login page of the company in front', 'a page is no answer', () => ({
    tracker: beginning().move(0, done),
    params,
    instead: instead({ status: 302, headers: { location: 'https://sso.example.com/login' }, body: '<html></html>' }),
  })),
  center(
    ['in time', 'unverifiable', 'refused'],
    'a target without the context path',
    'another path may be another server',
    () => ({ tracker: beginning().move(0, done), params, target: 'jira:jira.example.com/ENG-1' }),
  ),
  center(TRUE_UNTOLD, 'done, while the server reindexes', 'it answers 503 to all', () => ({
    tracker: beginning().move(0, done),
    params,
    instead: instead({
      status: 503,
      headers: { 'retry-after': '300' },
      body: '<html>JIRA is temporarily unavailable</html>',
    }),
  })),
]

export const JIRA: readonly Row[] = [...rowsAt('jira'), ...CLOUD, ...rowsAt('data center'), ...CENTER]
