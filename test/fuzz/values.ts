/** Values that programs read wrongly: texts, numbers and JSON that their readers did not have in mind. */
import type { Random } from '../crash/random.ts'

/** No answer repeats it as it stands: where one does, a page takes the text of a stranger for its own. */
export const MARK = '<fuzzmark x="'
/** No answer has a header of this name: where one does, a text ended a header. */
export const MARK_HEADER = 'x-fuzzmark'

const TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '.',
  '..',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '~',
  '~..',
  "'",
  '"',
  "' OR 1=1 --",
  '1; DROP TABLE claims',
  '%',
  '_',
  '%00',
  '%',
  '%zz',
  '%c0%af',
  `${MARK}">`,
  `"${MARK}`,
  `javascript:${MARK}`,
  '{{7*7}}',
  `\${7*7}`,
  `\r\n${MARK_HEADER}: 1`,
  `%0d%0a${MARK_HEADER}:%201`,
  `\u560d\u560a${MARK_HEADER}: 1`,
  '\u202e\u2066evil\u2069',
  '\u200b',
  '\ufeff',
  '\ufffe\uffff',
  '\ud800',
  'a\udc00b',
  '\u{1f600}'.repeat(20),
  'e\u0301'.repeat(40),
  '\u0130\u0131\u017f\u212a',
  '\u2028\u2029',
  '\x7f\x1b[2J',
  '\uff11\uff12\uff17.\uff10.\uff10.\uff11',
  'a'.repeat(257),
  'a'.repeat(5000),
  'http://127.0.0.1:1/',
  '//evil.example/x',
  'https://evil.example/\\@good.example',
  '\\\\evil.example\\x',
  'data:text/html,x',
  'file:///etc/passwd',
  'ws_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'clm_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'rcpt_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'someone@example.com',
  'a@b@c',
  'owner',
  'admin',
]

const NUMBERS: readonly string[] = [
  '0',
  '-0',
  '-1',
  '1',
  '1.0',
  '1.5',
  '1e3',
  '1e400',
  '-1e400',
  '0x10',
  '010',
  '+1',
  '1_000',
  '\u0661',
  'NaN',
  'Infinity',
  '2147483648',
  '4294967296',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '99999999999999999999999999',
]

const TIMES: readonly string[] = [
  '0000-00-00T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '2024-02-30T00:00:00Z',
  '2026-06-30T23:59:60Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.000Z',
  '+275760-09-14T00:00:00.000Z',
  '2026-01-01',
  '2026-01-01T00:00:00+14:00',
  '2026-01-01T00:00:00,5Z',
  '20260101T000000Z',
]

export function nastyText(random: Random): string {
  if (random.chance(0.2)) return random.pick(NUMBERS)
  if (random.chance(0.1)) return random.pick(TIMES)
  const text = random.pick(TEXTS)
  return random.chance(0.1) ? text + random.pick(TEXTS) : text
}

/** JSON text of a value, which need not be JSON. */
export function nastyJson(random: Random): string {
  const kind = random.below(10)
  if (kind < 4) return JSON.stringify(nastyText(random))
  if (kind < 6) return random.pick(NUMBERS)
  if (kind === 6) return random.pick(['null', 'true', 'false', '[]', '{}', '""', '[null]', '{"":0}'])
  if (kind === 7) return nested(random.pick([2, 31, 32, 33, 1000, 20_000]), random)
  if (kind === 8)
    return `{"__proto__":{"admin":true},"constructor":{"prototype":1},${JSON.stringify(nastyText(random))}:1}`
  return random.pick([
    `"\\ud800"`,
    `"\\u0000"`,
    '"\t"',
    '{"a":1,"a":2}',
    '[1,]',
    "'a'",
    '/**/1',
    '\ufeff1',
    '"\\x41"',
    '',
  ])
}

function nested(levels: number, random: Random): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
  return open.repeat(levels) + (open === '[' ? '' : '0') + close.repeat(levels)
}

/** As a header can carry it: Latin-1 without line ends, of which the client would take the last for its own. */
export function headerText(text: string): string {
  return Buffer.from(text.slice(0, 2000), 'utf8')
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}

/** In a path or query: mostly escaped as it should be, and sometimes as it stands, or wrongly. */
export function escaped(text: string, random: Random): string {
  const bytes = Buffer.from(text, 'utf8')
  const way = random.below(10)
  if (way < 6) return encodeURIComponent(text.toWellFormed())
  if (way === 6) return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  if (way === 7) return encodeURIComponent(encodeURIComponent(text.toWellFormed()))
  // Bytes that no path may hold are left out: the client would refuse them.
  if (way === 8) return bytes.toString('latin1').replace(/[^\x21-\x7e\x80-\xff]/g, '')
  return `${encodeURIComponent(text.toWellFormed())}${random.pick(['%', '%0', '%u0041', '%ff', '%ed%a0%80', ';x=1', '/..', '//'])}`
}
