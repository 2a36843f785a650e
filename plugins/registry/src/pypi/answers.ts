/** Schemas of the parts of PyPI's answers that are used. An answer that does not match its schema is refused. */
import { type Static, Type } from '@claimcheck/core/plugin'

const File = Type.Object({
  digests: Type.Object({ sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  // Not every index has these.
  upload_time_iso_8601: Type.Optional(Type.Unknown()),
  yanked: Type.Optional(Type.Unknown()),
})
export type File = Static<typeof File>

export const Release = Type.Object({
  info: Type.Object({ name: Type.String(), version: Type.String() }),
  urls: Type.Array(File),
})
export type Release = Static<typeof Release>

/** Of the simple API as JSON (PEP 691), with its versions (PEP 700) and its status (PEP 792). */
export const Project = Type.Object({
  name: Type.String(),
  versions: Type.Array(Type.String()),
  'project-status': Type.Optional(Type.Unknown()),
})
export type Project = Static<typeof Project>
