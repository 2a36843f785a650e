/** Claims of Linear issues: teams that an issue leaves, entries that join changes, errors with status 200, and dates that whoever makes an issue sets. */
import { START } from '../../../../test/traps/verifier-table.ts'
import { AGENT, BOT, PERSON, refusal, STATES, uuidOf } from './linear-api.ts'
import {
  begunTracker,
  DAY,
  emptyTracker,
  FAILED_LATER,
  HOUR,
  instead,
  LATE,
  MINUTE,
  NOT_DONE,
  OTHER,
  type Row,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_OR_UNTOLD,
  TRUE_UNTOLD,
  UNTOLD,
  WORDS,
} from './row.ts'

const row = rowsOf('linear')
const { progress, done, closed } = WORDS.linear
const begun = () => begunTracker('linear')
const finished = () => begun().move(0, done)
const made = () => emptyTracker('linear').make(-2 * DAY)
const params = { category: 'done' }
const exact = { category: 'done', status: done, from: progress, by: AGENT }
const later = { submittedMs: 41 * MINUTE }
const LIMITED = refusal(400, 'Rate limit exceeded. Only 2500 requests are allowed per 1 hour', 'ratelimited', 429)

const types: readonly Row[] = [
  ...(
    [
      ['open', 'triage', STATES.triage.id],
      ['open', 'backlog', STATES.backlog.id],
      ['open', 'unstarted', STATES.todo.id],
      ['done', 'completed', STATES.shipped.id],
      ['canceled', 'canceled', STATES.canceled.id],
      ['canceled', 'duplicate', STATES.duplicate.id],
    ] as const
  ).map(([category, type, status]) =>
    row(TRUE, `taken to a state of the type ${type}, ${category} claimed`, 'a type has its category', () => ({
      tracker: begun().move(0, status),
      params: { category },
      facts: { category, status },
    })),
  ),
  row(TRUE, 'begun', 'the type is started', () => ({
    tracker: made().move(0, progress),
    params: { category: 'in_progress' },
  })),
  row(TRUE, 'begun, and done after a minute, submitted later', 'the history passes through it', () => ({
    tracker: made().move(0, progress).move(MINUTE, done),
    params: { category: 'in_progress' },
    ...later,
  })),
  row(OTHER, 'canceled, done claimed', 'to be given up is not to be done', () => ({
    tracker: begun().move(0, STATES.canceled.id),
    params,
  })),
  row(OTHER, 'marked as a duplicate, done claimed', 'a duplicate is not done', () => ({
    tracker: begun().move(0, STATES.duplicate.id),
    params,
  })),
  row(OTHER, 'done, canceled claimed', 'to be done is not to be given up', () => ({
    tracker: finished(),
    params: { category: 'canceled' },
  })),
  row(OTHER, 'taken to a state that is called Closed, of the type started', 'a type is no name', () => ({
    tracker: begun().move(0, STATES.closed.id),
    params,
  })),
]

const identifiers: readonly Row[] = [
  row(TRUE, 'done, and taken to another team', 'the old identifier leads to the same issue', () => ({
    tracker: finished().transfer(MINUTE, 'OPS-7', { status: STATES.elsewhereDone.id, by: PERSON }),
    params: exact,
  })),
  row(TRUE_OR_UNTOLD, 'done, and taken to another team before the first look', 'previousIdentifiers tells', () => ({
    tracker: finished().transfer(SECOND / 2, 'OPS-7', { status: STATES.elsewhereDone.id, by: PERSON }),
    params: exact,
    facts: { key: 'OPS-7' },
  })),
  row(TRUE_OR_UNTOLD, 'done, and taken to another team, submitted later', 'previousIdentifiers tells', () => ({
    tracker: finished().transfer(MINUTE, 'OPS-7', { status: STATES.elsewhereDone.id, by: PERSON }),
    params: exact,
    facts: { key: 'OPS-7' },
    ...later,
  })),
  row(TRUE, 'the new identifier claimed', 'it is the same issue', () => ({
    tracker: begun().transfer(-HOUR, 'OPS-7', { by: PERSON }).move(0, STATES.elsewhereDone.id),
    params: { category: 'done', by: AGENT },
    target: 'linear:acme/OPS-7',
  })),
  row(
    ['never', 'failed', 'unverifiable'],
    'taken to another team, and never done',
    'a move alone is no transition',
    () => ({
      tracker: begun().transfer(0, 'OPS-7'),
      params,
    }),
  ),
  row(TRUE_OR_UNTOLD, 'taken to another team and to done in one step', 'a move may map states', () => ({
    tracker: begun().transfer(0, 'OPS-7', { status: STATES.elsewhereDone.id }),
    params,
  })),
  row(TRUE_UNTOLD, 'done, in a private team since a minute before', 'what is missing may be hidden', () => ({
    tracker: begun().transfer(-MINUTE, 'SEC-7').move(0, done),
    params,
  })),
  row(UNTOLD, 'never done, in a private team', 'what is missing may be hidden', () => ({
    tracker: begun(),
    params,
    linear: { sees: ['OPS'] },
  })),
  row(TRUE_UNTOLD, 'done, in a private team', 'what is missing may be hidden', () => ({
    tracker: finished(),
    params,
    linear: { sees: ['OPS'] },
  })),
  row(
    UNTOLD,
    'done, in another workspace than the one of the key',
    'other workspaces have the same identifiers',
    () => ({
      tracker: finished(),
      params,
      linear: { workspace: 'acme-labs' },
    }),
  ),
  row(UNTOLD, 'never done, in another workspace than the one of the key', 'nothing reads that workspace here', () => ({
    tracker: begun(),
    params,
    linear: { workspace: 'acme-labs' },
  })),
  row(TRUE_OR_UNTOLD, 'done, in a workspace that has another name since', 'previousUrlKeys tells', () => ({
    tracker: finished(),
    params,
    linear: { workspace: 'acme-labs', formerWorkspaces: ['acme'] },
  })),
  row(
    ['in time', 'verified', 'refused', 'unverifiable'],
    'its identifier in lower case',
    'Linear takes any case',
    () => ({
      tracker: finished(),
      params,
      target: 'linear:acme/eng-1',
    }),
  ),
  row(
    ['in time', 'refused', 'unverifiable', 'verified'],
    'its UUID for its identifier',
    'an id is no identifier',
    () => ({
      tracker: finished(),
      params,
      target: `linear:acme/${uuidOf('issue 1')}`,
    }),
  ),
]

const entries: readonly Row[] = [
  ...([true, false] as const).map((isOldestFirst) =>
    row(TRUE, `a history of ${isOldestFirst ? 'oldest' : 'newest'} entries first`, 'nothing promises an order', () => ({
      tracker: begun()
        .edit(-HOUR, 60, { by: PERSON })
        .move(0, done)
        .move(MINUTE, progress)
        .edit(2 * MINUTE, 60, { by: PERSON }),
      params: exact,
      linear: { isOldestFirst },
      ...later,
    })),
  ),
  row(TRUE, 'pages of thirty entries', 'a server may give fewer than it is asked for', () => ({
    tracker: begun().edit(-HOUR, 60, { by: PERSON }).move(0, done).edit(MINUTE, 60, { by: PERSON }),
    params: exact,
    linear: { pageSize: 30 },
    ...later,
  })),
  row(
    FAILED_LATER,
    'pages of thirty entries, none of them claimed',
    'a server may give fewer than it is asked for',
    () => ({
      tracker: begun().edit(-HOUR, 100, { by: PERSON }),
      params: exact,
      linear: { pageSize: 30 },
    }),
  ),
  row(TRUE_OR_UNTOLD, 'twelve hundred entries', 'a history may be too long to be read', () => ({
    tracker: begun().edit(-HOUR, 1200, { by: PERSON }).move(0, done),
    params: exact,
  })),
  row(TRUE, 'done half a minute after an edit, in one entry', 'an entry begins with its first change', () => ({
    tracker: begun()
      .edit(0)
      .move(30 * SECOND, done),
    params: { category: 'done', status: done, by: AGENT },
    linear: { groupMs: 3 * MINUTE },
  })),
  row(
    TRUE_OR_UNTOLD,
    'begun and done in one entry, the state between claimed',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: made()
        .move(0, progress)
        .move(30 * SECOND, done),
      params: { category: 'in_progress', by: AGENT },
      linear: { groupMs: 3 * MINUTE },
    }),
  ),
  row(
    TRUE_OR_UNTOLD,
    'begun and done in one entry, the state between claimed later',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: made()
        .move(0, progress)
        .move(30 * SECOND, done),
      params: { status: progress },
      linear: { groupMs: 3 * MINUTE },
      ...later,
    }),
  ),
  row(
    TRUE_OR_UNTOLD,
    'done in one entry with what was before, from the state between',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: made()
        .move(-30 * SECOND, progress)
        .move(0, done),
      params: exact,
      linear: { groupMs: 3 * MINUTE },
    }),
  ),
  row(
    ['in time', 'verified', 'unverifiable', 'failed'],
    'done and opened again in one entry',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: finished().move(20 * SECOND, progress),
      params,
      linear: { groupMs: 3 * MINUTE },
      ...later,
    }),
  ),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'begun and done in one entry, from what was before both',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: made()
        .move(0, progress)
        .move(30 * SECOND, done),
      params: { ...exact, from: WORDS.linear.todo },
      linear: { groupMs: 3 * MINUTE },
    }),
  ),
  row(
    TRUE_OR_UNTOLD,
    'begun and done in one entry two days ago, from the state between',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: emptyTracker('linear')
        .make(-3 * DAY)
        .move(-2 * DAY, progress)
        .move(-2 * DAY + 30 * SECOND, done),
      params: exact,
      linear: { groupMs: 3 * MINUTE },
    }),
  ),
  row(
    TRUE_OR_UNTOLD,
    'begun and done in one entry within a second, the state between claimed',
    'an entry of a team that groups its history leaves out what is between',
    () => ({
      tracker: made().move(0, progress).move(300, done),
      params: { category: 'in_progress', by: AGENT },
      linear: { groupMs: 3 * MINUTE },
      ...later,
    }),
  ),
  row(LATE, 'done after forty minutes, in an entry of its own', 'joined entries are of one short time', () => ({
    tracker: begun()
      .edit(0)
      .move(40 * MINUTE, done),
    params,
    linear: { groupMs: 3 * MINUTE },
    ...later,
  })),
]

const actors: readonly Row[] = [
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'done by the pull request, the agent claimed',
    'a bot is no user',
    () => ({
      tracker: begun().move(0, done, { by: `${BOT}github` }),
      params: exact,
    }),
  ),
  row(TRUE, 'done by the pull request, nobody claimed', 'who did it is not claimed', () => ({
    tracker: begun().move(0, done, { by: `${BOT}github` }),
    params: { category: 'done', status: done, from: progress },
  })),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'closed by Linear itself, the agent claimed',
    'a bot is no user',
    () => ({
      tracker: begun().move(0, done, { by: `${BOT}workflow` }),
      params: exact,
    }),
  ),
  row(TRUE_UNTOLD, 'done, and the server fails to tell by whom', 'partial data comes with errors', () => ({
    tracker: finished(),
    params: exact,
    linear: { fails: ['IssueHistory.actor', 'IssueHistory.actorId'] },
  })),
  row(
    TRUE_UNTOLD,
    'done by a person, and the server fails to tell by whom',
    'an actor of null in an error is nobody',
    () => ({
      tracker: begun().move(0, done, { by: PERSON }),
      params: { ...exact, by: PERSON },
      linear: { fails: ['IssueHistory.actor', 'IssueHistory.actorId'] },
    }),
  ),
]

const gone: readonly Row[] = [
  row(TRUE, 'done, and archived after two minutes', 'an archived issue is shown by its identifier', () => ({
    tracker: finished().mark(2 * MINUTE, { isArchived: true }),
    params: exact,
  })),
  row(TRUE_OR_UNTOLD, 'done, archived, and submitted later', 'an archived issue is shown by its identifier', () => ({
    tracker: finished().mark(2 * MINUTE, { isArchived: true }),
    params: exact,
    ...later,
  })),
  row(FAILED_LATER, 'archived, and never done', 'to be archived is not to be done', () => ({
    tracker: begun().mark(0, { isArchived: true }),
    params,
  })),
  row(TRUE_OR_UNTOLD, 'done, in the trash, and submitted later', 'the trash keeps an issue for thirty days', () => ({
    tracker: finished().mark(2 * MINUTE, { isTrashed: true }),
    params,
    ...later,
  })),
  row(FAILED_LATER, 'put into the trash, and never done', 'the trash is no state', () => ({
    tracker: begun().mark(0, { isTrashed: true }),
    params,
  })),
  row(
    TRUE_UNTOLD,
    'done, and deleted for good before the first look',
    'a missing entity is an error with status 200',
    () => ({
      tracker: finished().remove(SECOND / 2),
      params,
    }),
  ),
  row(
    NOT_DONE,
    'made as done, with a time of completion in the past',
    'whoever makes an issue sets completedAt',
    () => ({
      tracker: emptyTracker('linear').make(-MINUTE, { status: done, dated: START - 30 * DAY, by: AGENT }),
      params,
      linear: { completedAt: START },
    }),
  ),
  row(
    NOT_DONE,
    'made as done after forty minutes, with a time of completion in time',
    'whoever makes an issue sets completedAt',
    () => ({
      tracker: emptyTracker('linear').make(40 * MINUTE, { status: done, dated: START - DAY, by: AGENT }),
      params,
      linear: { completedAt: START },
      ...later,
    }),
  ),
  row(NOT_DONE, 'imported as done, with an entry of the import', 'an import is no transition', () => ({
    tracker: emptyTracker('linear')
      .make(0, { status: done, dated: START - 300 * DAY })
      .edit(0),
    params,
    linear: { isImported: true, completedAt: START - 200 * DAY },
  })),
]

const errors: readonly Row[] = [
  row(TRUE, 'limited for three minutes, with status 400', 'RATELIMITED is a limit', () => ({
    tracker: finished(),
    params: exact,
    instead: instead(LIMITED, { untilMs: 3 * MINUTE }),
  })),
  row(UNTOLD, 'never done, and limited for the whole life', 'a limit says nothing', () => ({
    tracker: begun(),
    params,
    instead: instead(LIMITED),
  })),
  row(TRUE_UNTOLD, 'done, and the issue is null without an error', 'null is not never', () => ({
    tracker: finished(),
    params,
    instead: instead({ status: 200, body: { data: { issue: null } } }),
  })),
  row(UNTOLD, 'never done, and data that is null', 'null is not never', () => ({
    tracker: begun(),
    params,
    instead: instead({ status: 200, body: { data: null } }),
  })),
  row(TRUE_UNTOLD, 'done, and an empty list of errors beside no data', 'no data says nothing', () => ({
    tracker: finished(),
    params,
    instead: instead({ status: 200, body: { errors: [], data: null } }),
  })),
  row(TRUE_UNTOLD, 'done, and a feature that is not accessible', 'a refusal tells nothing', () => ({
    tracker: finished(),
    params,
    instead: instead(refusal(200, 'Access denied', 'forbidden', 403)),
  })),
  row(TRUE_UNTOLD, 'done, and its state fails', 'partial data comes with errors', () => ({
    tracker: finished(),
    params,
    linear: { fails: ['Issue.state', 'Issue.history'] },
  })),
  row(NOT_DONE, 'never done, and states of entries fail', 'an entry without a state may be any', () => ({
    tracker: begun(),
    params,
    linear: { fails: ['IssueHistory.toState', 'IssueHistory.fromState'] },
  })),
  row(TRUE_OR_UNTOLD, 'done, and states of entries fail', 'an entry without a state may be any', () => ({
    tracker: finished(),
    params,
    linear: { fails: ['IssueHistory.toState', 'IssueHistory.toStateId'] },
  })),
  row(OTHER, 'done by a person in another done state, everything claimed', 'nothing of it is as claimed', () => ({
    tracker: made().move(0, closed, { by: PERSON }),
    params: exact,
  })),
]

export const LINEAR: readonly Row[] = [...types, ...identifiers, ...entries, ...actors, ...gone, ...errors]
