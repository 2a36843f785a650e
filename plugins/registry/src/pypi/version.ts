/** Reads versions by PEP 440. */

/** Limit of the characters of a version. An index may send half a megabyte for a version, which would be compared for minutes. */
const LONGEST = 127

const VERSION =
  /^v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)(?:[-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?([0-9]*))?(?:-([0-9]+)|[-_.]?(post|rev|r)[-_.]?([0-9]*))?(?:[-_.]?(dev)[-_.]?([0-9]*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/

const PRE: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' }

/** Writes a version in its normal form, which keeps zeros at the end of the release; undefined for what is no version. */
export function normalizePep440(text: string): string | undefined {
  const match = text.length > LONGEST + 'v'.length ? null : VERSION.exec(text.toLowerCase())
  if (!match) return undefined
  const [, epoch = '', release, pre, preNumber, implicitPost, post, postNumber, dev, devNumber, local] = match
  const normal = [
    number(epoch) === '0' ? '' : `${number(epoch)}!`,
    release!.split('.').map(number).join('.'),
    pre === undefined ? '' : `${PRE[pre] ?? pre}${number(preNumber)}`,
    post === undefined && implicitPost === undefined ? '' : `.post${number(implicitPost ?? postNumber)}`,
    dev === undefined ? '' : `.dev${number(devNumber)}`,
    local === undefined ? '' : `+${local.split(/[-_.]/).map(localPart).join('.')}`,
  ].join('')
  return normal.length > LONGEST ? undefined : normal
}

/** Tells whether two texts name one version, as `1.0` and `1.0.0` do; false for texts that are none. */
export function isSamePep440(one: string, other: string): boolean {
  const [a, b] = [one, other].map(comparable)
  return a !== undefined && a === b
}

function comparable(text: string): string | undefined {
  return normalizePep440(text)?.replace(/^((?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*?)(?:\.0)+(?!\.?[0-9])/, '$1')
}

/** Drops zeros at the beginning of a number. */
function number(digits = ''): string {
  return digits.replace(/^0+(?=[0-9])/, '') || '0'
}

function localPart(part: string): string {
  return /^[0-9]+$/.test(part) ? number(part) : part
}
