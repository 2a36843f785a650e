/** Writes platforms in one form, so that `linux/aarch64` and `linux/arm64/v8` are one. */

const SYSTEMS: ReadonlyMap<string, string> = new Map([['macos', 'darwin']])
/** Other names of architectures, and the variant that they mean. */
const ARCHITECTURES: ReadonlyMap<string, readonly [architecture: string, variant?: string]> = new Map([
  ['i386', ['386']],
  ['x86_64', ['amd64']],
  ['x86-64', ['amd64']],
  ['aarch64', ['arm64']],
  ['armhf', ['arm', 'v7']],
  ['armel', ['arm', 'v6']],
])
/** The variants that platforms mean which name none. */
const USUAL_VARIANTS: ReadonlyMap<string, string> = new Map([
  ['amd64', 'v1'],
  ['arm64', 'v8'],
])

/** Normalizes a platform as containerd does, by which a client chooses among the images of an index. */
export function normalizePlatform(text: string): string {
  const [system = '', named = '', given = ''] = text.toLowerCase().split('/')
  const [architecture, own] = ARCHITECTURES.get(named) ?? [named]
  const variant = own ?? (/^arm/.test(architecture) ? given.replace(/^(?=[0-9])/, 'v') : given)
  const isUsual = variant === '' || variant === USUAL_VARIANTS.get(architecture)
  return [SYSTEMS.get(system) ?? system, architecture, ...(isUsual ? [] : [variant])].join('/')
}

/**
 * Lists the platforms for which there is no image. Who names no variant means any: `linux/amd64/v3` is one of `linux/amd64`. An image for
 * `linux/arm` is for its usual variant.
 */
export function lackingOf(wanted: readonly string[], found: readonly string[]): string[] {
  const isFor = (one: string, other: string) =>
    one === other || one.startsWith(`${other}/`) || (one.endsWith('/arm') && other === `${one}/v7`)
  return wanted.filter((other) => !found.some((one) => isFor(one, other)))
}

/** Tells whether one of the platforms that are lacking may be there: an image without a variant does not say which one it is for. */
export function mayBeThere(lacking: readonly string[], found: readonly string[]): boolean {
  return lacking.some((other) => found.some((one) => other.startsWith(`${one}/`)))
}
