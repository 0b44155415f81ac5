// The flags of both Java engines.

/** The serial collector: pauses stay short with such small heaps, and it needs no threads. */
export const javaFlags = (heapMax: string): string[] => [
  `-Xmx${heapMax}`,
  '-XX:+UseSerialGC',
  // Statistics for monitoring tools, for which an idle process would wake up twenty times a second.
  '-XX:-UsePerfData',
  '-Djava.awt.headless=true',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
  '-Dorg.slf4j.simpleLogger.showThreadName=false',
];
