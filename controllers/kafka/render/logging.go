package render

// Kafka logs only to the console: the last lines of a crashed process are available there, and no disk fills up.
// Kafka 3.9 reads the first format, Kafka from 4.0 on the second.
const (
	logging1 = `log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=[%d] %p %m (%c)%n
`
	logging2 = `status = ERROR
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
`
)
