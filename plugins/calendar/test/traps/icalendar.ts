/** Writes iCalendar objects (RFC 5545) as clients do, with all that may stand in them. */

export const UID = 'c7614cff-3549-4a00-9152-d25cc1fe077d'
export const OTHER_UID = '0b2f8d6c-1e3a-4c57-9f0d-6a1b2c3d4e5f'
/** Words of events, which no read may keep. */
export const SUMMARY = 'Quarterly numbers with Nora'
export const ATTENDEE = 'nora@partner.example'

/** The usual event: half an hour on a Monday, as claims name it and as objects have it. */
export const CLAIMED = { start: '2026-03-16T14:00:00Z', end: '2026-03-16T14:30:00Z' }
export const TIMES: readonly string[] = ['DTSTART:20260316T140000Z', 'DTEND:20260316T143000Z']
export const OTHER_TIMES: readonly string[] = ['DTSTART:20260317T090000Z', 'DTEND:20260317T093000Z']

export interface Component {
  readonly name?: 'VEVENT' | 'VTODO' | 'VJOURNAL'
  readonly uid?: string
  /** DTSTART and DTEND, or what stands for them. */
  readonly times?: readonly string[]
  /** Lines beside the usual ones. */
  readonly lines?: readonly string[]
  /** The author's own date. */
  readonly stamp?: string
}

export function eventOf({ name = 'VEVENT', uid = UID, times = TIMES, lines = [], stamp }: Component = {}): string {
  return [
    `BEGIN:${name}`,
    ...folded(`UID:${uid}`),
    `DTSTAMP:${stamp ?? '20260311T093000Z'}`,
    ...times,
    `SUMMARY:${SUMMARY}`,
    ...lines,
    `END:${name}`,
  ].join('\r\n')
}

/** @param components events, or time zones */
export function calendarOf(...components: readonly string[]): string {
  return `${['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Acme//Agent 1.0//EN', ...components, 'END:VCALENDAR'].join('\r\n')}\r\n`
}

/** The object of one event. */
export function objectOf(component?: Component): string {
  return calendarOf(eventOf(component))
}

/** Local times with a zone. */
export function inZone(zone: string, start: string, end: string): readonly string[] {
  return [`DTSTART;TZID=${zone}:${start}`, `DTEND;TZID=${zone}:${end}`]
}

/** The definition of a zone with the rules of central Europe, or with one offset for the whole year. */
export function zoneOf(id: string, offset?: string): string {
  const fixed = (part: string, from: string, to: string, start: string, rule: string) => [
    `BEGIN:${part}`,
    `DTSTART:${start}`,
    ...(rule ? [`RRULE:${rule}`] : []),
    `TZOFFSETFROM:${from}`,
    `TZOFFSETTO:${to}`,
    `END:${part}`,
  ]
  const parts =
    offset === undefined
      ? [
          ...fixed('DAYLIGHT', '+0100', '+0200', '19810329T020000', 'FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU'),
          ...fixed('STANDARD', '+0200', '+0100', '19961027T030000', 'FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU'),
        ]
      : fixed('STANDARD', offset, offset, '19700101T000000', '')
  return ['BEGIN:VTIMEZONE', `TZID:${id}`, ...parts, 'END:VTIMEZONE'].join('\r\n')
}

/** Folds a line after 75 octets, as RFC 5545 3.1 asks. */
export function folded(line: string, width = 75): readonly string[] {
  const lines: string[] = []
  for (let rest = line; rest; ) {
    const limit = lines.length === 0 ? width : width - 1
    let end = rest.length
    while (Buffer.byteLength(rest.slice(0, end)) > limit) end--
    lines.push((lines.length === 0 ? '' : ' ') + rest.slice(0, end))
    rest = rest.slice(end)
  }
  return lines
}

/** The lines of an object without their folds. */
export function unfolded(content: string): readonly string[] {
  return content.replace(/\r?\n[ \t]/g, '').split(/\r?\n/)
}

export interface Found {
  readonly name: string
  readonly uid: string
  readonly className: string
}

/** Lists the components of an object, without those in them. */
export function componentsOf(content: string): readonly Found[] {
  const found: { name: string; uid: string; className: string }[] = []
  const open: string[] = []
  for (const line of unfolded(content)) {
    const [, written = '', value = ''] = /^([A-Za-z-]+)(?:;[^:]*)?:(.*)$/.exec(line) ?? []
    const key = written.toUpperCase()
    if (key === 'BEGIN') {
      open.push(value)
      if (open.length === 2) found.push({ name: value, uid: '', className: 'PUBLIC' })
    } else if (key === 'END') open.pop()
    else if (open.length === 2 && key === 'UID') found.at(-1)!.uid = textOf(value)
    else if (open.length === 2 && key === 'CLASS') found.at(-1)!.className = value
  }
  return found.filter(({ name }) => name !== 'VTIMEZONE')
}

/** Takes the escapes out of a TEXT value (RFC 5545 3.3.11). */
function textOf(value: string): string {
  return value.replace(/\\([\\;,nN])/g, (_, letter: string) => (letter.toLowerCase() === 'n' ? '\n' : letter))
}
