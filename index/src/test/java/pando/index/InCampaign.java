package pando.index;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Tests that run with {@code -Pcampaign} alone, as they take long. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@SuppressWarnings("exports") // Of JUnit, which the tests of all modules have.
@EnabledIfSystemProperty(named = "pando.campaign", matches = "true")
public @interface InCampaign {}
