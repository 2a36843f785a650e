/** Puts a secret into a segment of the path, and takes it out of everything that the plugin sees of the answer. */
import { secretHandle } from '../../contract/auth.ts'
import { DestinationError } from '../../contract/destination-error.ts'
import { Type } from '../../typebox.ts'
import { BreachError } from '../failures.ts'
import { hideCredentials, percentEncode } from './messages.ts'
import type { Scheme } from './scheme.ts'

/** A secret in the path, such as `/v3/<key>`. The URL has the handle of the option where the secret belongs, once, as all of a segment. */
export interface PathCredential {
  readonly scheme: 'path'
  /** The name of the secret option whose value stands in the path. */
  readonly secret: string
}

export const path: Scheme<PathCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('path'), secret: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  options: ({ secret }) => [{ name: secret, isSecret: true }],
  async spend({ secret: option }, request, host) {
    const { url } = request
    const handle = secretHandle(option)
    const segments = url.pathname.split('/')
    const places = segments.filter((segment) => decoded(segment) === handle)
    if (places.length !== 1 || url.search.includes(handle))
      throw new BreachError(`the URL has ${handle} as one segment of its path, and nowhere else`)
    const secret = host.required(option)
    // Decodes characters that a segment may have plain, because some destinations know the token only as they gave it out.
    const written = percentEncode(secret).replace(/%(?:3A|40|21|24|26|27|28|29|2A|2B|2C|3B|3D)/g, decodeURIComponent)
    const sent = new URL(url)
    sent.pathname = segments.map((segment) => (segment === places[0] ? written : segment)).join('/')
    // A secret of dots would name another path.
    if (sent.pathname.split('/').length !== segments.length || !sent.pathname.split('/').includes(written))
      throw new DestinationError('misconfigured')
    const forms = [...new Set([secret, written, percentEncode(secret), encodeURIComponent(secret)])]
    return hideCredentials(await host.send({ ...request, url: sent }), {
      url: url.href,
      replace: (value) => forms.reduce((text, form) => text.replaceAll(form, handle), value),
    })
  },
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
