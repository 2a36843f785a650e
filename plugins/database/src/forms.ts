/** The text forms in which one value of a column may be written. */

/**
 * The kind of a column's type, by how its values are written: `text` in one form only; `padded` with blanks at the end; `trimmed` without those
 * that were written; `digits` hexadecimal, in either case; `flag` a number that is a boolean, too; `single` and `double` the nearest number that a
 * float has; `other` in forms that cannot be listed.
 */
export type Kind =
  | 'text'
  | 'padded'
  | 'trimmed'
  | 'digits'
  | 'boolean'
  | 'flag'
  | 'number'
  | 'single'
  | 'double'
  | 'time'
  | 'other'

/** The length up to which a number or a time has listed forms. */
const LONGEST = 100
const DECIMAL = /^([+-]?)0*([0-9]+)(?:\.([0-9]*?)0*)?$/
/** The most digits behind the point of a listed form, which amounts and rates have. */
const MOST_ZEROS = 10
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/
const MOMENT = /^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]*?)0*)?(\+00(?::?00)?|Z)?$/

/** The usual forms of a value that a database wrote, its own first. */
export function formsOf(kind: Kind, written: string): readonly string[] {
  return [...new Set([written, ...otherForms(kind, written)])]
}

/** Tells whether a value has no usual form beside those of `formsOf`, so that another fingerprint is that of another value. */
export function hasListedForms(kind: Kind, written: string): boolean {
  switch (kind) {
    case 'flag':
    case 'number':
      return written.length <= LONGEST && DECIMAL.test(written)
    case 'double':
      return written.length <= LONGEST && DECIMAL.test(written) && digitsOf(written) < MOST_EXACT
    case 'time':
      return written.length <= LONGEST && (MOMENT.test(written) || DAY.test(written))
    default:
      return !UNLISTED.includes(kind)
  }
}

const UNLISTED: readonly Kind[] = ['trimmed', 'single', 'other']
/** The digits from which on a double may be a number that was rounded. */
const MOST_EXACT = 15

function digitsOf(written: string): number {
  return written.replaceAll(/[^0-9]/g, '').replace(/^0+/, '').length
}

function otherForms(kind: Kind, written: string): readonly string[] {
  if (kind === 'padded') return [withoutPadding(written)]
  if (kind === 'digits') return [written.toUpperCase().replace('\\X', '\\x'), written.replace(/-|^\\x/g, '')]
  if (written.length > LONGEST) return []
  switch (kind) {
    case 'boolean':
      return truthForms(written)
    case 'flag':
      return [...numberForms(written), ...truthForms(written)]
    case 'number':
    case 'single':
    case 'double':
      return numberForms(written)
    case 'time':
      return momentForms(DAY.test(written) ? `${written} 00:00:00` : written)
    default:
      return []
  }
}

function withoutPadding(written: string): string {
  let end = written.length
  while (written[end - 1] === ' ') end--
  return written.slice(0, end)
}

const TRUTHS = [
  ['t', 'true', 'True', 'TRUE', '1'],
  ['f', 'false', 'False', 'FALSE', '0'],
]

function truthForms(written: string): readonly string[] {
  return TRUTHS.filter((forms) => forms.includes(written)).flat()
}

function numberForms(written: string): readonly string[] {
  return [...decimalForms(written), ...powerForms(written)]
}

/** Lists the forms of a decimal number, from none of the digits behind the point to the most. */
function decimalForms(written: string): readonly string[] {
  const [, sign = '', whole, fraction = ''] = DECIMAL.exec(written) ?? []
  if (whole === undefined) return []
  const isZero = /^0*$/.test(whole + fraction)
  const start = `${sign === '-' && !isZero ? '-' : ''}${whole}`
  const zeros = Array.from({ length: MOST_ZEROS + 1 }, (_, length) => fraction.padEnd(length, '0'))
  return [...new Set(zeros)].map((digits) => (digits === '' ? start : `${start}.${digits}`))
}

/** Lists the forms of a decimal number with a power of ten, such as `4.9E+1`. */
function powerForms(written: string): readonly string[] {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(written) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  if (digits === '') return []
  const power = digits.length - fraction.length - 1
  const [, first, rest] = /^([0-9])([0-9]*?)0*$/.exec(digits)!
  const start = `${sign === '-' ? '-' : ''}${first}${rest && `.${rest}`}`
  const size = String(Math.abs(power))
  const powers = power < 0 ? [`-${size}`, `-${size.padStart(2, '0')}`] : [`+${size}`, `+${size.padStart(2, '0')}`, size]
  return ['E', 'e'].flatMap((letter) => powers.map((one) => `${start}${letter}${one}`))
}

/** The offsets from UTC that clocks show somewhere, in minutes. */
const OFFSETS: readonly number[] = [
  ...Array.from({ length: 27 }, (_, index) => (index - 12) * 60),
  ...[-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765],
]
const MINUTE_MS = 60_000

/** Lists the forms of a moment, of one with a zone at all offsets. */
function momentForms(written: string): readonly string[] {
  const [, day, time, fraction = '', zone] = MOMENT.exec(written) ?? []
  if (day === undefined) return []
  const fractions = [fraction, fraction.padEnd(3, '0'), fraction.padEnd(6, '0')].map((digits) => digits && `.${digits}`)
  const listed = (local: string, ends: readonly string[]) =>
    ['T', ' '].flatMap((between) =>
      fractions.flatMap((digits) => ends.map((end) => `${local.replace(' ', between)}${digits}${end}`)),
    )
  const here = listed(`${day} ${time}`, zone === undefined ? ['', 'Z'] : ['+00', '+00:00', 'Z', ''])
  const utc = Date.parse(`${day}T${time}Z`)
  if (zone === undefined || Number.isNaN(utc)) return here
  const elsewhere = OFFSETS.flatMap((offset) => {
    const local = new Date(utc + offset * MINUTE_MS).toISOString().slice(0, 19).replace('T', ' ')
    return listed(local, offsetForms(offset))
  })
  return [...here, ...elsewhere]
}

function offsetForms(offset: number): readonly string[] {
  const part = (minutes: number) => String(Math.floor(minutes)).padStart(2, '0')
  const size = Math.abs(offset)
  const hours = `${offset < 0 ? '-' : '+'}${part(size / 60)}`
  return size % 60 === 0 ? [`${hours}:00`, hours] : [`${hours}:${part(size % 60)}`]
}

/** Tells whether two texts are one decimal number. */
export function isSameNumber(one: string, other: string): boolean {
  if (one.length > LONGEST || other.length > LONGEST) return false
  const [first] = decimalForms(one)
  return first !== undefined && first === decimalForms(other)[0]
}

/** Tells whether two texts are one moment without a time zone. */
export function isSameMoment(one: string, other: string): boolean {
  if (one.length > LONGEST || other.length > LONGEST) return false
  const [first] = momentForms(one)
  return first !== undefined && first === momentForms(other)[0]
}
