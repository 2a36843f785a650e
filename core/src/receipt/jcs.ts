/** The one text of a JSON value that hashes and signatures are made of: JCS, RFC 8785. */
import serialize from 'canonicalize'
import type { JsonValue } from '../json.ts'

/** @throws for a lone surrogate, or a number that is not finite: neither is in anything that was read strictly */
export function canonicalize(value: JsonValue): string {
  return serialize(value) as string
}
