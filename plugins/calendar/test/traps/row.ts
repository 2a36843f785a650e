/** A row of the trap table: what happens in a calendar, what is claimed of it, and the verdict that is right. */
import type { JsonObject } from '@claimcheck/core/plugin'
import type { ScriptedScene } from '../../../../test/traps/scripted-life.ts'
import type { Answer, Asked, Serving } from '../../../../test/traps/scripted-server.ts'
import { nearDeadline, type Kind as RowKind, row, START, type TrapRow } from '../../../../test/traps/verifier-table.ts'
import { Agenda, CALENDAR } from './agenda.ts'
import * as caldav from './caldav-server.ts'
import { Diary } from './diary.ts'
import * as google from './google-api.ts'
import { CLAIMED, objectOf, UID } from './icalendar.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export type Provider = 'caldav' | 'google_calendar'

export interface Scene extends ScriptedScene {
  readonly caldav?: Omit<caldav.CaldavServer, 'kind'> & {
    readonly kind?: caldav.Kind
    /** Reads with the account of an auditor, to whom the calendar is shared. */
    readonly isAuditor?: boolean
  }
  readonly google?: Partial<google.Google> & { readonly agenda: Agenda }
}

export interface Row extends TrapRow<Scene> {
  readonly provider: Provider
}

export const TRUE: RowKind = ['in time', 'verified']
export const FAILED: RowKind = ['never', 'failed']
/** It was not done; a reader who is careful may say less. */
export const FAILED_MAYBE: RowKind = ['never', 'failed', 'unverifiable']
export const OTHER: RowKind = ['other', 'mismatch', 'failed']
export const LATE: RowKind = ['late', 'late']
/** It was done, and what is shown may do to tell. */
export const TRUE_MAYBE: RowKind = ['in time', 'verified', 'unverifiable']
/** It was done, and too little is shown of it. */
export const TRUE_UNTOLD: RowKind = ['in time', 'unverifiable']
/** It came late, and what is shown need not tell. */
export const LATE_UNTOLD: RowKind = ['late', 'unverifiable', 'late', 'failed']
/** It was not done, and blame may be more than what is seen. */
export const NOT_DONE: RowKind = ['never', 'unverifiable', 'failed']
/** It was not done, and the claim may be refused. */
export const UNTOLD: RowKind = ['never', 'unverifiable', 'refused']
/** It was done otherwise, and blame may be more than what is seen. */
export const OTHER_UNTOLD: RowKind = ['other', 'unverifiable', 'mismatch', 'failed']
export const UNKNOWABLE: RowKind = ['unknowable', 'unverifiable']

export function rowsOf(provider: Provider) {
  return (kind: RowKind, title: string, why: string, scene: () => Scene): Row => {
    const near = nearDeadline(kind, { late: 3 * HOUR, other: 12 * MINUTE })
    return { provider, ...row(kind, title, why, () => ({ ...near, ...scene() })) }
  }
}

/** The usual calendar of a server, with another one beside it, both made long ago. */
export function diaryAt(kind: caldav.Kind = 'radicale'): Diary {
  return new Diary(START, caldav.calendarAt(kind), caldav.calendarAt(kind, 'plan'))
}

export const WORK = caldav.calendarAt('radicale')
export const PLAN = caldav.calendarAt('radicale', 'plan')
export const NAME = `${UID}.ics`

/** A diary with the usual event, put into the usual calendar. */
export function written(
  content = objectOf(),
  { kind = 'radicale' as caldav.Kind, afterMs = 0, name = NAME } = {},
): Diary {
  return diaryAt(kind).put(afterMs, caldav.calendarAt(kind), name, content)
}

export function agenda(): Agenda {
  return new Agenda(START)
}

/** The params of a claim of the usual event with the usual times, unless they say otherwise; undefined leaves a param out. */
export function claimOf(given: Readonly<Record<string, string | undefined>> = {}): JsonObject {
  const params = { uid: UID, ...CLAIMED, ...given }
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as JsonObject
}

/** An answer of what stands between, or of the destination in trouble, between two moments, to the requests that `on` names. */
export function instead(
  answer: Answer,
  { fromMs = -DAY, untilMs = 400 * DAY, on = /./ }: { fromMs?: number; untilMs?: number; on?: RegExp } = {},
): Serving['instead'] {
  return ({ now, method, path }: Asked) =>
    now >= START + fromMs && now < START + untilMs && on.test(`${method} ${path}`) ? answer : undefined
}

export interface Set {
  readonly answer: Serving['answer']
  readonly options: JsonObject
  readonly target: string
  readonly secrets: readonly string[]
}

/** The destination as it is, the connection as it says that it is, and the target of the claim. */
export function setOf(provider: Provider, scene: Scene): Set {
  const set = provider === 'caldav' ? caldavOf(scene) : googleOf(scene)
  return { ...set, options: { ...set.options, ...scene.connection }, target: scene.target ?? set.target }
}

const ROOTS: Readonly<Record<caldav.Kind, string>> = { radicale: '', sabre: '/remote.php/dav', apple: '' }

function caldavOf({ caldav: given = { diary: diaryAt() } }: Scene): Set {
  const { kind = 'radicale', isAuditor = false, ...server } = given
  const password = isAuditor ? caldav.AUDITOR_PASSWORD : caldav.PASSWORD
  return {
    answer: caldav.createCaldav({ ...server, kind }),
    options: {
      base_url: `https://${caldav.HOST}${ROOTS[kind]}`,
      username: isAuditor ? caldav.AUDITOR : caldav.OWNER,
      password,
    },
    target: `caldav:${caldav.HOST}${caldav.calendarAt(kind)}`,
    secrets: [password],
  }
}

function googleOf({ google: given = { agenda: agenda() } }: Scene): Set {
  return {
    answer: google.createGoogle({ roles: { [CALENDAR]: 'owner' }, ...given }),
    options: {
      ...google.CLIENT,
      refresh_token: google.REFRESH_TOKEN,
    },
    target: `google:${CALENDAR}`,
    secrets: [google.REFRESH_TOKEN, google.CLIENT.client_secret],
  }
}
