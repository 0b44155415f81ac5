// The flags of both Java engines.

/** The serial collector needs no threads. That of the MongoDB stand-in pauses no command. */
export const javaFlags = (heapMax: string, collector: 'Serial' | 'Z' = 'Serial'): string[] => [
  `-Xmx${heapMax}`,
  `-XX:+Use${collector}GC`,
  // Statistics for monitoring tools, for which an idle process would wake up twenty times a second.
  '-XX:-UsePerfData',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
  '-Dorg.slf4j.simpleLogger.showThreadName=false',
];
