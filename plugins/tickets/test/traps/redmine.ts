/** Claims of Redmine issues: closed by a mark of the status, journals that are hidden or reversed, refusals without a body, and changes that are ignored. */
import { AGENT, PERSON } from './redmine-api.ts'
import {
  begunTracker,
  DAY,
  emptyTracker,
  FAILED,
  FAILED_LATER,
  HOUR,
  instead,
  LATE,
  LATE_OR_UNTOLD,
  MEANINGLESS,
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

const row = rowsOf('redmine')
const { progress, review, done, closed } = WORDS.redmine
/** Not closed, whatever its name says. */
const RESOLVED = '3'
const begun = () => begunTracker('redmine')
const finished = () => begun().move(0, done)
const made = () => emptyTracker('redmine').make(-2 * DAY)
const params = { category: 'done' }
const exact = { category: 'done', status: done, from: progress, by: AGENT }
const later = { submittedMs: 41 * MINUTE }
const wrongKey = { connection: { api_key: 'zzzzzzzzzzzzzzzzzzzzzzzz' } }

const statuses: readonly Row[] = [
  row(OTHER, 'taken to Resolved, which is not closed', 'a category is no name', () => ({
    tracker: begun().move(0, RESOLVED),
    params,
  })),
  row(TRUE, 'taken to Resolved, the status claimed', 'the journal names it', () => ({
    tracker: begun().move(0, RESOLVED),
    params: { status: RESOLVED, by: AGENT },
  })),
  row(TRUE, 'rejected, done claimed', 'Redmine knows open and closed', () => ({
    tracker: begun().move(0, closed),
    params,
  })),
  row(MEANINGLESS, 'in progress claimed', 'Redmine knows open and closed', () => ({
    tracker: made().move(0, progress),
    params: { category: 'in_progress' },
  })),
  row(MEANINGLESS, 'canceled claimed', 'Redmine knows open and closed', () => ({
    tracker: begun().move(0, closed),
    params: { category: 'canceled' },
  })),
  row(TRUE, 'begun, the status claimed', 'the journal names it', () => ({
    tracker: made().move(0, progress),
    params: { status: progress, from: '1', by: AGENT },
    facts: { status: progress, from: '1', by: AGENT },
  })),
  row(TRUE, 'opened again', 'it came from closed to open', () => ({
    tracker: made().move(-DAY, done).move(0, review),
    params: { category: 'open', from: done },
  })),
  row(
    TRUE,
    'done, at a server that does not mark the status of an issue',
    'the list of statuses has the marks',
    () => ({
      tracker: finished(),
      params: exact,
      redmine: { isOld: true },
    }),
  ),
  row(FAILED, 'never done, at a server that does not mark the status of an issue', 'the list has the marks', () => ({
    tracker: begun(),
    params,
    redmine: { isOld: true },
  })),
  row(TRUE, 'done and opened again, at a server that does not mark the status', 'the list has the marks', () => ({
    tracker: finished().move(MINUTE, progress),
    params: exact,
    redmine: { isOld: true },
    ...later,
  })),
  row(
    ['unknowable', 'unverifiable', 'failed', 'mismatch'],
    'taken to Feedback, which is made a closed status after three minutes',
    'an administrator edited the status, and nobody moved the issue',
    () => ({
      tracker: begun()
        .move(0, review)
        .redefine(3 * MINUTE, review, { category: 'closed' }),
      params,
    }),
  ),
  row(TRUE, 'done, in a status that is made an open one after three minutes', 'looks saw the mark before', () => ({
    tracker: finished().redefine(3 * MINUTE, done, { category: 'open' }),
    params,
  })),
  row(TRUE, 'done, in a status that is made an open one, the status claimed later', 'ids stay', () => ({
    tracker: finished().redefine(3 * MINUTE, done, { category: 'open' }),
    params: { status: done },
    ...later,
  })),
  row(OTHER, 'closed as rejected, Closed claimed', 'another closed status is not the claimed one', () => ({
    tracker: begun().move(0, closed),
    params: { category: 'done', status: done },
  })),
  row(FAILED, 'asked to close it without the right', 'Redmine answers 204 to a change that it ignores', () => ({
    tracker: begun().edit(0, 1, { items: [{ field: 'summary', from: 'One', to: 'Two' }] }),
    params: exact,
  })),
  row(FAILED, 'made with the status closed, without the right', 'Redmine makes it as new', () => ({
    tracker: emptyTracker('redmine').make(0, { by: AGENT }),
    params,
  })),
]

const journals: readonly Row[] = [
  row(TRUE, 'the newest journal first', 'the account wants comments in reverse', () => ({
    tracker: begun().edit(-HOUR, 5, { by: PERSON }).move(0, done).move(MINUTE, progress),
    params: exact,
    redmine: { isNewestFirst: true },
    ...later,
  })),
  row(LATE, 'done late, with the newest journal first', 'the account wants comments in reverse', () => ({
    tracker: made()
      .move(-DAY, done)
      .move(-5 * HOUR, progress)
      .move(40 * MINUTE, done),
    params,
    redmine: { isNewestFirst: true },
    ...later,
  })),
  row(
    FAILED_LATER,
    'done yesterday and opened again, with the newest journal first',
    'the order is no evidence',
    () => ({
      tracker: made()
        .move(-DAY, done)
        .move(-5 * HOUR, progress),
      params,
      redmine: { isNewestFirst: true },
    }),
  ),
  row(TRUE, 'a thousand journals', 'they come in one answer', () => ({
    tracker: begun().edit(-HOUR, 1000, { by: PERSON }).move(0, done),
    params: exact,
  })),
  row(TRUE, 'done with a private note', 'Redmine splits the note from the change', () => ({
    tracker: begun().move(0, done, { hasNotes: true }),
    params: exact,
  })),
  row(TRUE, 'done with a private note that the account may see', 'Redmine splits the note from the change', () => ({
    tracker: begun().move(0, done, { hasNotes: true }),
    params: exact,
    redmine: { seesPrivateNotes: true },
    ...later,
  })),
  row(TRUE_OR_UNTOLD, 'done, and the journal made private before the first look', 'closed_on shows when', () => ({
    tracker: finished().conceal(SECOND / 2),
    params,
  })),
  row(TRUE_OR_UNTOLD, 'done, and the journal made private, submitted later', 'closed_on shows when', () => ({
    tracker: finished().conceal(MINUTE),
    params,
    ...later,
  })),
  row(TRUE_OR_UNTOLD, 'done, and the journal made private, everything claimed', 'who did it is hidden', () => ({
    tracker: finished().conceal(SECOND / 2),
    params: exact,
  })),
  row(TRUE, 'done, in a private journal that the account may see', 'it is shown as any other', () => ({
    tracker: finished().conceal(SECOND / 2),
    params: exact,
    redmine: { seesPrivateNotes: true },
  })),
  row(
    TRUE_OR_UNTOLD,
    'done and opened again, and the first journal made private',
    'the journal of the opening says from where',
    () => ({
      tracker: finished()
        .move(MINUTE, progress)
        .conceal(2 * MINUTE, 1),
      params,
      ...later,
    }),
  ),
  row(
    TRUE_UNTOLD,
    'done and opened again, and both journals made private',
    'hidden journals may have been anything, and closed_on stays',
    () => ({
      tracker: finished()
        .move(MINUTE, progress)
        .conceal(2 * MINUTE)
        .conceal(2 * MINUTE, 1),
      params,
      ...later,
    }),
  ),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'done by a person, and the journal made private',
    'who did it is hidden',
    () => ({
      tracker: begun()
        .move(0, done, { by: PERSON })
        .conceal(SECOND / 2),
      params: exact,
    }),
  ),
  row(
    LATE_OR_UNTOLD,
    'done after forty minutes, and the journal made private',
    'closed_on shows when, and looks did not show it in time',
    () => ({
      tracker: begun()
        .move(40 * MINUTE, done)
        .conceal(40 * MINUTE + SECOND),
      params,
    }),
  ),
  row(
    ['never', 'failed', 'unverifiable'],
    'done yesterday, and opened again in a private journal',
    'the status that is shown is open',
    () => ({
      tracker: made()
        .move(-DAY, done)
        .move(-5 * HOUR, progress)
        .conceal(-5 * HOUR),
      params,
    }),
  ),
  row(
    ['late', 'late', 'unverifiable'],
    'done yesterday, opened again in a private journal, and done after forty minutes',
    'the shown journals alone would make it one stay',
    () => ({
      tracker: made()
        .move(-DAY, done)
        .move(-5 * HOUR, progress)
        .conceal(-5 * HOUR)
        .move(40 * MINUTE, done),
      params,
      ...later,
    }),
  ),
  row(
    TRUE_UNTOLD,
    'taken to Feedback in the first journal, which is made private',
    'nothing tells how it was made',
    () => ({
      tracker: made()
        .move(0, review)
        .conceal(SECOND / 2),
      params: { status: review, from: '1' },
    }),
  ),
  row(
    TRUE_UNTOLD,
    'taken to Feedback and further, and the first journal made private',
    'nothing tells how it was made',
    () => ({
      tracker: made()
        .move(0, review)
        .move(MINUTE, progress)
        .conceal(2 * MINUTE, 1),
      params: { status: review },
      ...later,
    }),
  ),
  row(
    TRUE_UNTOLD,
    'taken to Feedback twice, and the first journal made private',
    'nothing tells how it was made',
    () => ({
      tracker: made()
        .move(0, review)
        .move(MINUTE, progress)
        .move(40 * MINUTE, review)
        .conceal(40 * MINUTE + SECOND, 2),
      params: { status: review },
      ...later,
    }),
  ),
  row(TRUE, 'done in the second in which it is claimed', 'journals have whole seconds', () => ({
    tracker: begun().move(700, done),
    params: exact,
    claimedMs: 900,
  })),
  row(TRUE, 'done by a commit, with the note of the commit', 'a commit closes as its author', () => ({
    tracker: begun().move(0, done, { hasNotes: true, beside: [{ field: 'resolution', from: '0', to: '100' }] }),
    params: exact,
  })),
  row(TRUE, 'done, and taken to another project', 'ids stay', () => ({
    tracker: finished().edit(MINUTE, 1, { items: [{ field: 'key', from: '1', to: '2' }], by: PERSON }),
    params: exact,
    ...later,
  })),
]

const rights: readonly Row[] = [
  row(TRUE_OR_UNTOLD, 'done in a public project, and the key is wrong', 'Redmine answers as to anybody', () => ({
    tracker: finished(),
    params,
    redmine: { isPublic: true },
    ...wrongKey,
  })),
  row(NOT_DONE, 'never done in a public project, and the key is wrong', 'Redmine answers as to anybody', () => ({
    tracker: begun(),
    params,
    redmine: { isPublic: true },
    ...wrongKey,
  })),
  row(TRUE_UNTOLD, 'done in a public project behind a login, and the key is wrong', 'a refusal is no look', () => ({
    tracker: finished(),
    params,
    redmine: { isPublic: true, needsLogin: true },
    ...wrongKey,
  })),
  row(TRUE, 'done in a public project of which the account is no member', 'anybody may see it', () => ({
    tracker: finished(),
    params: exact,
    redmine: { isPublic: true, isMember: false },
  })),
  row(TRUE_UNTOLD, 'done in a project of which the account is no member', 'hidden is 403, and missing is 404', () => ({
    tracker: finished(),
    params,
    redmine: { isMember: false },
  })),
  row(UNTOLD, 'never done in a project of which the account is no member', 'hidden is 403, and missing is 404', () => ({
    tracker: begun(),
    params,
    redmine: { isMember: false },
  })),
  row(TRUE_UNTOLD, 'done, in a project that is archived', 'an archived project is 403 to all', () => ({
    tracker: finished(),
    params,
    redmine: { isProjectArchived: true },
  })),
  row(UNTOLD, 'never done, in a project that is archived', 'an archived project is 403 to all', () => ({
    tracker: begun(),
    params,
    redmine: { isProjectArchived: true },
  })),
  row(TRUE, 'done, in a project that is closed', 'a closed project can be read', () => ({
    tracker: finished(),
    params: exact,
    redmine: { isProjectClosed: true },
  })),
  row(TRUE_UNTOLD, 'done, and the REST API is off', 'nobody is signed in', () => ({
    tracker: finished(),
    params,
    redmine: { hasNoApi: true },
  })),
  row(
    ['in time', 'unverifiable', 'refused'],
    'a target without the path below which the server runs',
    'another path may be another server',
    () => ({ tracker: finished(), params, target: 'redmine:redmine.example.com/123' }),
  ),
  row(
    ['in time', 'verified', 'refused', 'unverifiable'],
    'its number with a zero before it',
    'it is the same number',
    () => ({
      tracker: finished(),
      params,
      target: 'redmine:redmine.example.com/pm/0123',
    }),
  ),
  row(UNTOLD, 'no number', 'issues have numbers', () => ({
    tracker: finished(),
    params,
    target: 'redmine:redmine.example.com/pm/ENG-1',
  })),
  row(NOT_DONE, 'a number that was never given out', 'a missing number may be of a deleted issue', () => ({
    tracker: begun(),
    params,
    target: 'redmine:redmine.example.com/pm/99999',
  })),
  row(TRUE_UNTOLD, 'done, and a page of Redmine for its JSON', 'a page is no answer', () => ({
    tracker: finished(),
    params,
    instead: instead({ status: 200, body: '<!DOCTYPE html><html lang="en"><title>Redmine</title></html>' }),
  })),
  row(
    LATE_OR_UNTOLD,
    'done after an hour, in times without a zone',
    'a time without an offset tells no moment',
    () => ({
      tracker: begun(),
      params,
      instead: zoneless(),
      submittedMs: 61 * MINUTE,
    }),
  ),
  row(TRUE_OR_UNTOLD, 'done, and an answer without journals', 'journals that are left out are not none', () => ({
    tracker: finished(),
    params,
    instead: withoutJournals(),
  })),
]

/** An issue that was closed at 10:30 of UTC, as a server in a zone that is an hour behind writes it. */
function zoneless() {
  const at = '2026-03-11T09:30:00'
  const details = [{ property: 'attr', name: 'status_id', old_value: '2', new_value: '5' }]
  const journals = [{ id: 4001, user: { id: 12, name: 'Nelly Noname' }, notes: '', created_on: at, details }]
  const issue = { id: 123, status: { id: 5 }, created_on: '2026-03-09T09:30:00', closed_on: at, journals }
  return instead({ status: 200, body: { issue } }, { on: /issues\/123/ })
}

/** An issue as an answer without `include=journals` has it. */
function withoutJournals() {
  const time = '2026-03-11T09:30:00Z'
  const issue = {
    id: 123,
    project: { id: 1, name: 'Engineering' },
    tracker: { id: 1, name: 'Bug' },
    status: { id: 5, name: 'Closed', is_closed: true },
    priority: { id: 2, name: 'Normal' },
    author: { id: 5, name: 'Nelly Noname' },
    created_on: '2026-03-09T09:30:00Z',
    updated_on: time,
    closed_on: time,
  }
  return instead({ status: 200, body: { issue } }, { on: /issues\/123/ })
}

export const REDMINE: readonly Row[] = [...statuses, ...journals, ...rights]
