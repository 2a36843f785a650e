/** Schemas of the parts of PyPI's answers that are used. An answer that does not match its schema is refused. */
import { type Static, Type } from '@claimcheck/core/plugin'

const File = Type.Object({
  digests: Type.Object({ sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  // The next two members are optional, because not every index has them.
  upload_time_iso_8601: Type.Optional(Type.Unknown()),
  yanked: Type.Optional(Type.Unknown()),
})

export const Release = Type.Object({
  info: Type.Object({ name: Type.String(), version: Type.String() }),
  urls: Type.Array(File),
})
export type Release = Static<typeof Release>

export const SimpleFile = Type.Object({
  filename: Type.String(),
  hashes: Type.Object({ sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })) }),
  // PEP 700 adds the upload time.
  'upload-time': Type.Optional(Type.Unknown()),
  // PEP 691 has true here, or the reason of yanking.
  yanked: Type.Optional(Type.Unknown()),
})
export type SimpleFile = Static<typeof SimpleFile>

/** A project in the simple API as JSON (PEP 691), with versions (PEP 700) and status (PEP 792). Only the files of the claimed version are read. */
export const Project = Type.Object({
  name: Type.String(),
  versions: Type.Optional(Type.Array(Type.String())),
  files: Type.Optional(Type.Array(SimpleFile)),
  'project-status': Type.Optional(Type.Unknown()),
})
export type Project = Static<typeof Project>
