/** Times of iCalendar are compared as RFC 5545 means them, and those that nobody can be sure of blame nobody. */
import { tryClaim } from '@claimcheck/core/testkit'
import calendar from '@claimcheck/plugin-calendar'
import t from 'tap'
import { Calendars, DAV_PATH, escapeXml, iCalendar, PASSWORD } from './calendars.ts'

const UID = '5f0c9b1e-2c1c-4c0a-9d5b-7b6c1f3a2d10'
const NINE = '2026-12-01T09:00:00.000Z'
const TEN = '2026-12-01T10:00:00.000Z'

const calendars = new Calendars(Date.now)
const { url, stop } = await calendars.start()
t.teardown(stop)

/** The times of an object, as one check tells them. */
async function timesOf(data: string) {
  calendars.objects = { 'a1.ics': data }
  const { record } = await tryClaim({
    plugin: calendar,
    provider: 'caldav',
    connection: { base_url: url, username: 'ann', password: PASSWORD },
    claim: {
      action: 'calendar.event.create',
      target: `caldav:${new URL(url).host}${DAV_PATH}`,
      params: { uid: UID, start: NINE },
      claimedAt: Date.now(),
    },
  })
  if (!('observation' in record)) return record.failure
  const { facts, mark } = record.observation
  return { starts: facts.starts, ends: facts.ends, mark }
}

const of = (lines: Readonly<Record<string, string>>) => iCalendar({ UID, ...lines })
const berlin = (time: string) => `;TZID=Europe/Berlin:${time}`
const inBerlin = of({ DTSTART: berlin('20261201T100000'), DTEND: berlin('20261201T110000') })
type Part = readonly [offset: string, start: string, ...lines: readonly string[]]
/** The definition of a zone by parts with their offset, the time at which they begin first, and lines beside. */
const zone = (name: string, ...parts: readonly Part[]) =>
  [
    'BEGIN:VTIMEZONE',
    `TZID:${name}`,
    ...parts.flatMap(([offset, start, ...lines]) => [
      ...['BEGIN:STANDARD', `DTSTART:${start}`, ...lines, `TZOFFSETTO:${offset}`, 'END:STANDARD'],
    ]),
    'END:VTIMEZONE',
    '',
  ].join('\r\n')
const yearly = (by: string, until = '') => `RRULE:FREQ=YEARLY;${by}${until && `;UNTIL=${until}`}`
const SUMMER = ['+0200', '19810329T020000', yearly('BYMONTH=3;BYDAY=-1SU')] as const
const WINTER = ['+0100', '19961027T030000', yearly('BYMONTH=10;BYDAY=-1SU')] as const
/** Matches the last Sunday as some write it. */
const BY_DAYS = yearly('BYDAY=SU;BYMONTH=10;BYMONTHDAY=25,26,27,28,29,30,31')
const within = (data: string, lines: string) => data.replace('BEGIN:VEVENT', `${lines}BEGIN:VEVENT`)
const defined = (...parts: readonly Part[]) => within(inBerlin, zone('Europe/Berlin', ...parts))

const UNREADABLE = { code: 'unexpected_response' }
const UNKNOWN = { starts: undefined, ends: undefined, mark: 'may_have_been' }

const ROWS: readonly [title: string, data: string, times: object][] = [
  ['a zone by its IANA name', inBerlin, { starts: NINE, ends: TEN }],
  ['UTC', of({ DTSTART: '20261201T090000Z', DTEND: '20261201T100000Z' }), { starts: NINE, ends: TEN }],
  ['a name with a prefix', inBerlin.replaceAll('=Europe', '=/example.org/2026_1/Europe'), { starts: NINE, ends: TEN }],
  ['a quoted name', inBerlin.replaceAll('Europe/Berlin', '"Europe/Berlin"'), { starts: NINE, ends: TEN }],
  ['a definition that agrees', defined(SUMMER, WINTER), { starts: NINE, ends: TEN }],
  ['one with a rule by the days of the month', defined(SUMMER, ['+0100', WINTER[1], BY_DAYS]), { starts: NINE }],
  [
    'one whose rules ended, with later ones',
    defined(['+0100', '19800928T030000', yearly('BYMONTH=9;BYDAY=-1SU', '19950924T010000Z')], ...[SUMMER, WINTER], [
      '+0300',
      '19450524T020000',
      'RDATE:19450524T020000',
    ]),
    { starts: NINE, ends: TEN },
  ],
  [
    'one by dates',
    defined(SUMMER, ['+0100', '19961027T030000', 'RDATE:20251026T030000,20261025T030000']),
    { starts: NINE },
  ],
  ['one of one offset', defined(['+0100', '19700101T000000']), { starts: NINE, ends: TEN }],
  ['a definition that disagrees', defined(['-0500', '19700101T000000']), UNKNOWN],
  ['one that has winter in summer', defined(['+0200', WINTER[1], WINTER[2]], ['+0100', SUMMER[1], SUMMER[2]]), UNKNOWN],
  ['one whose winter ended', defined(SUMMER, ['+0100', WINTER[1], `${WINTER[2]};UNTIL=20201025T010000Z`]), UNKNOWN],
  ['one whose winter begins later', defined(SUMMER, ['+0100', '20271031T030000', WINTER[2]]), UNKNOWN],
  ['one whose offsets begin together', defined(['+0200', '19700101T000000'], ['+0100', '19700101T000000']), UNKNOWN],
  [
    'one with a rule that is not of the year',
    defined(SUMMER, ['+0100', WINTER[1], 'RRULE:FREQ=MONTHLY;INTERVAL=12;BYDAY=-1SU']),
    UNKNOWN,
  ],
  ['one with a part that does not say when', defined(SUMMER, ['+0100', 'soon', WINTER[2]]), UNKNOWN],
  ['a name of Windows', inBerlin.replaceAll('Europe/Berlin', 'W. Europe Standard Time'), UNKNOWN],
  ['a name of nobody', inBerlin.replaceAll('Europe/Berlin', 'Home'), UNKNOWN],
  [
    'a time that comes twice: the first',
    of({ DTSTART: berlin('20261025T023000') }),
    { starts: '2026-10-25T00:30:00.000Z' },
  ],
  ['a time that is left out', of({ DTSTART: berlin('20260329T023000') }), { starts: '2026-03-29T01:30:00.000Z' }],
  [
    'a day that has 25 hours',
    of({ DTSTART: berlin('20261024T120000'), DURATION: 'P1D' }),
    { starts: '2026-10-24T10:00:00.000Z', ends: '2026-10-25T11:00:00.000Z' },
  ],
  [
    '24 hours over the same change',
    of({ DTSTART: berlin('20261024T120000'), DURATION: 'PT24H' }),
    { ends: '2026-10-25T10:00:00.000Z' },
  ],
  ['a day without an end', of({ DTSTART: ';VALUE=DATE:20261201' }), { starts: '2026-12-01', ends: '2026-12-02' }],
  ['a time without an end', of({ DTSTART: '20261201T090000Z' }), { starts: NINE, ends: NINE }],
  [
    'a time without a zone',
    of({ DTSTART: '20261201T100000' }),
    { starts: '2026-12-01T10:00:00', ends: '2026-12-01T10:00:00' },
  ],
  ['a day that is none', of({ DTSTART: ';VALUE=DATE:20260231' }), UNKNOWN],
  ['no start', of({}), UNKNOWN],
  ['lines that end without a carriage return', inBerlin.replaceAll('\r', ''), { starts: NINE, ends: TEN }],
  ['names in small letters', inBerlin.replace('DTSTART', 'dtstart'), { starts: NINE, ends: TEN }],
  [
    'an alarm with a time of its own',
    within(inBerlin, '').replace('END:VEVENT', 'BEGIN:VALARM\r\nDURATION:PT5M\r\nEND:VALARM\r\nEND:VEVENT'),
    { ends: TEN },
  ],
  ['a text that is no iCalendar', UID, { code: 'unexpected_response' }],
  ['one that does not end', inBerlin.replace('END:VCALENDAR\r\n', ''), { code: 'unexpected_response' }],
  [
    'one whose components overlap',
    inBerlin.replace('END:VEVENT\r\nEND:VCALENDAR', 'END:VCALENDAR\r\nEND:VEVENT'),
    { code: 'unexpected_response' },
  ],
  ['a name of ICU that is not IANA\u2019s', inBerlin.replaceAll('Europe/Berlin', 'BST'), UNKNOWN],
  [
    'two definitions of which one disagrees',
    within(defined(SUMMER, WINTER), zone('Europe/Berlin', ['-0500', '19700101T000000'])),
    UNKNOWN,
  ],
  [
    'two zones of one time',
    inBerlin.replace('DTSTART;TZID=Europe/Berlin', 'DTSTART;TZID=America/Lima;TZID=Europe/Berlin'),
    { starts: undefined, mark: 'may_have_been' },
  ],
  ['two starts', inBerlin.replace('DTSTART', 'DTSTART:20261202T090000Z\r\nDTSTART'), UNREADABLE],
  ['two states', of({ STATUS: 'CONFIRMED\r\nSTATUS:CANCELLED' }), UNREADABLE],
  [
    'an end and a duration',
    of({ DTSTART: '20261201T090000Z', DTEND: '20261201T100000Z', DURATION: 'PT9H' }),
    {
      starts: NINE,
      ends: undefined,
    },
  ],
  ['a name with a letter that has an S as its capital', of({ 'DT\u017fTART': '20261201T090000Z' }), UNKNOWN],
  ['a state behind a hundred parameters', of({ STATUS: `${';X=a'.repeat(100)}:CANCELLED` }), UNREADABLE],
  ['a state behind a quote that does not end', of({ STATUS: ';X="a:CANCELLED' }), UNREADABLE],
  ...(
    [
      ['taken out', { EXDATE: '20261201T090000Z' }],
      ['taken out in its zone, among others', { EXDATE: berlin('20261208T100000,20261201T100000') }],
      ['taken out by its day', { EXDATE: ';VALUE=DATE:20261201' }],
      ['taken out by a rule', { EXRULE: 'FREQ=DAILY' }],
      ['behind the end', { RRULE: 'FREQ=DAILY;UNTIL=20261130T090000Z' }],
      ['behind the last day', { RRULE: 'FREQ=DAILY;UNTIL=20261130' }],
      ['of another day than its rule', { RRULE: 'FREQ=WEEKLY;BYDAY=MO,WE' }],
      ['of another Tuesday than its rule', { RRULE: 'FREQ=MONTHLY;BYDAY=2TU,-1TU' }],
      ['of another day of the month', { RRULE: 'FREQ=MONTHLY;BYMONTHDAY=2,-1' }],
      ['of another month', { RRULE: 'FREQ=YEARLY;BYMONTH=11' }],
      ['of another hour', { RRULE: 'FREQ=DAILY;BYHOUR=9' }],
      ['by its place in a set', { RRULE: 'FREQ=MONTHLY;BYDAY=TU;BYSETPOS=1' }],
      ['by its week', { RRULE: 'FREQ=YEARLY;BYWEEKNO=49' }],
      ['of a rule that has a part twice', { RRULE: 'FREQ=WEEKLY;BYDAY=TU;BYDAY=MO' }],
    ] as const
  ).map(([what, lines]): [string, string, object] => [
    `a series whose first event is ${what}`,
    of({ DTSTART: berlin('20261201T100000'), RRULE: 'FREQ=DAILY;COUNT=1', ...lines }),
    UNKNOWN,
  ]),
  [
    'a series whose first event is another',
    iCalendar(
      { UID, DTSTART: berlin('20261201T100000'), RRULE: 'FREQ=DAILY' },
      { UID, 'RECURRENCE-ID': '20261201T090000Z', DTSTART: '20261205T090000Z', STATUS: 'CANCELLED' },
    ),
    UNKNOWN,
  ],
  ...['FREQ=WEEKLY;BYDAY=MO,TU', 'FREQ=MONTHLY;BYDAY=1TU', 'FREQ=MONTHLY;BYDAY=-5TU', 'FREQ=MONTHLY;BYMONTHDAY=1,-31']
    .concat('FREQ=YEARLY;BYMONTH=12;BYDAY=+1TU', 'FREQ=DAILY;BYHOUR=10;BYMINUTE=0;BYSECOND=0', 'freq=weekly;byday=tu')
    .map((rule): [string, string, object] => [
      `a series whose rule takes in its first event: ${rule}`,
      of({ DTSTART: berlin('20261201T100000'), RRULE: rule }),
      { starts: NINE },
    ]),
  [
    'a series without its second and third event',
    iCalendar(
      {
        UID,
        DTSTART: berlin('20261201T100000'),
        RRULE: 'FREQ=DAILY;UNTIL=20261231',
        EXDATE: berlin('20261202T100000'),
      },
      { UID, 'RECURRENCE-ID': berlin('20261203T100000'), DTSTART: '20261205T090000Z' },
    ),
    { starts: NINE },
  ],
  ['a state that RFC 5545 does not know', of({ STATUS: 'DRAFT' }), { code: 'unexpected_response' }],
]

for (const [title, data, times] of ROWS)
  t.test(title, async (t) => {
    t.match(await timesOf(data), times)
  })

t.test('answers of servers, in the XML that they may write', async (t) => {
  const response = (properties: string, href = `${DAV_PATH}/a1.ics`, status = '200 OK') =>
    `<D:response><D:href>${href}</D:href><D:propstat><D:prop>${properties}</D:prop><D:status>HTTP/1.1 ${status}</D:status></D:propstat></D:response>`
  const answer = (responses: string, before = '<?xml version="1.0"?>') =>
    `${before}<D:multistatus xmlns:D="DAV:" xmlns:C='urn:ietf:params:xml:ns:caldav'>${responses}</D:multistatus>`
  const data = (text: string) => `<C:calendar-data>${escapeXml(text)}</C:calendar-data>`
  const cases: readonly [title: string, xml: string, seen: object][] = [
    ['prefixes', answer(response(data(inBerlin))), { starts: NINE }],
    [
      'CDATA and comments',
      answer(response(`<!-- a --><C:calendar-data><![CDATA[${inBerlin}]]></C:calendar-data>`)),
      { starts: NINE },
    ],
    [
      'a namespace where it is used',
      answer(response(`<calendar-data xmlns="urn:ietf:params:xml:ns:caldav">${escapeXml(inBerlin)}</calendar-data>`)),
      { starts: NINE },
    ],
    [
      'a whole address',
      answer(response(data(inBerlin), `https://dav.example.com${DAV_PATH}/a1.ics`)),
      { starts: NINE },
    ],
    [
      'an address that is written otherwise',
      answer(response(data(inBerlin), DAV_PATH.replace('work', '%77ork/a1.ics'))),
      { starts: NINE },
    ],
    [
      'another namespace',
      answer(response(`<x:calendar-data xmlns:x="urn:x">${inBerlin}</x:calendar-data>`)),
      { code: 'unexpected_response' },
    ],
    [
      'data that is refused',
      answer(response('<C:calendar-data/>', undefined, '403 Forbidden')),
      { code: 'unexpected_response' },
    ],
    ['an object elsewhere', answer(response(data(inBerlin), '/calendars/bob/a1.ics')), { code: 'unexpected_response' }],
    [
      'a cut answer',
      answer(
        `<D:response><D:href>${DAV_PATH}/</D:href><D:status>HTTP/1.1 507 Insufficient Storage</D:status></D:response>`,
      ),
      { code: 'too_large' },
    ],
    [
      'a carriage return, which XML reads as the end of a line',
      answer(response(data(inBerlin).replace('SUMMARY:', 'DESCRIPTION:x\rSTATUS:DRAFT&#13;\nSUMMARY:'))),
      { code: 'unexpected_response' },
    ],
    [
      'an object of a collection in the calendar',
      answer(response(data(inBerlin), `${DAV_PATH}/old/a1.ics`)),
      { code: 'unexpected_response' },
    ],
    [
      'a calendar that is refused',
      answer(`<D:response><D:href>${DAV_PATH}/</D:href><D:status>HTTP/1.1 403 Forbidden</D:status></D:response>`),
      { code: 'forbidden' },
    ],
    [
      'a calendar that is broken',
      answer(
        `<D:response><D:href>${DAV_PATH}/</D:href><D:status>HTTP/1.1 500 Internal Server Error</D:status></D:response>`,
      ),
      { code: 'unavailable' },
    ],
    [
      'namespaces by the hundred, which all elements would have',
      answer(response(data(inBerlin))).replace(
        ' xmlns:D',
        `${Array.from({ length: 100 }, (_, index) => ` xmlns:n${index}="urn:n"`).join('')} xmlns:D`,
      ),
      { code: 'unexpected_response' },
    ],
    ['a document type', answer('', '<!DOCTYPE a [<!ENTITY b "c">]>'), { code: 'unexpected_response' }],
    ['half an answer', answer(response(data(inBerlin))).slice(0, -20), { code: 'unexpected_response' }],
    ['a page', '<html><body>Sign in</body></html>', { code: 'unexpected_response' }],
  ]
  for (const [title, xml, seen] of cases) {
    calendars.davAnswer = xml
    t.match(await timesOf(inBerlin), seen, title)
  }
  calendars.davAnswer = undefined
})
